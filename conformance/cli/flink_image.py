"""`conformance flink-image`: build the image that `flink:containers` runs."""

import click

from conformance.cli.say import say


@click.command("flink-image")
@click.option("--base", metavar="IMAGE", help="The base image: any with glibc and this minor version of Python.")
@click.option("--tag", metavar="NAME", help="The name of the image. flink:containers runs the default.")
@click.option(
    "--debootstrap", is_flag=True, help="Make the base image from Debian packages, as root and without a registry."
)
@click.option("--missing", is_flag=True, help="Build only if there is no image for this Python yet.")
def flink_image(base: str | None, tag: str | None, debootstrap: bool, missing: bool) -> None:
    """Build the image for flink:containers: Flink and the packages its operators need, on a base with Python."""
    from conformance.adapters.flink import image  # noqa: PLC0415 - only needed here

    if base and debootstrap:
        raise click.UsageError("Give --debootstrap, which makes the base image, or --base, which names one; not both.")
    if missing and image.is_there(tag or image.TAG):
        say(f"{tag or image.TAG} exists already.")
        return
    made = image.make_base(say=say) if debootstrap else base or image.BASE
    image.build(made, tag or image.TAG, say)
