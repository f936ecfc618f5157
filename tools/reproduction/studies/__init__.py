"""All studies, in the order of the page."""

from studies import async_dsgd, comparison, decefl, depositum, draco, kdpdfl, pame, referee, spodgt


def all_studies():
    return [*async_dsgd.studies, *draco.studies, *kdpdfl.studies, *spodgt.studies, *pame.studies, *depositum.studies, *decefl.studies, *comparison.studies, *referee.studies]


def after(stored):
    """What later runs take from the numbers of earlier ones."""
    comparison.write_tuned(stored)
    kdpdfl.write_tuned(stored)
    pame.write_tuned(stored)
    depositum.write_tuned(stored)
    referee.write_tuned(stored)
