"""`conformance flink-image`: the image that `flink:containers` runs."""

import click

from conformance.cli.say import say


@click.command("flink-image")
@click.option(
    "--base", metavar="IMAGE", help="What it is built on: any image with our minor version of Python, and glibc."
)
@click.option("--tag", metavar="NAME", help="What it is called. flink:containers runs the default.")
@click.option(
    "--debootstrap", is_flag=True, help="Make the base out of Debian's packages; for root, without a registry."
)
@click.option("--missing", is_flag=True, help="Only if it is not there yet, or is not for this Python.")
def flink_image(base: str | None, tag: str | None, debootstrap: bool, missing: bool) -> None:
    """Build the image for flink:containers: Flink and the packages our operators need, on a base with Python."""
    from conformance.adapters.flink import image  # noqa: PLC0415 - one engine's own

    if base and debootstrap:
        raise click.UsageError("--debootstrap makes the base; --base names one that is there.")
    if missing and image.is_there(tag or image.TAG):
        say(f"{tag or image.TAG} is there already.")
        return
    made = image.make_base(say=say) if debootstrap else base or image.BASE
    image.build(made, tag or image.TAG, say)
