"""Consumers of a campaign's events: summary, HTML, badge, JUnit."""
