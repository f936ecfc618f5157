"""All studies, in the order of the page."""

import tuned
from studies import async_dsgd, comparison, decefl, depositum, draco, kdpdfl, pame, referee, spodgt


def all_studies():
    return [*async_dsgd.studies, *draco.studies, *kdpdfl.studies, *spodgt.studies, *pame.studies, *depositum.studies, *decefl.studies, *comparison.studies, *referee.studies]


def after(stored):
    """What later runs take from the numbers of earlier ones."""
    for study in (comparison, kdpdfl, pame, depositum):
        tuned.keep(study.choices(stored))
    tuned.keep(referee.choices(stored), referee.tuned_file)
