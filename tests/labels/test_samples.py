"""A made-up clinic: its features tell the label, and not all of it."""

import numpy as np

from voile.labels.sample_clinic import clinic

NAMED = ("PERSON", "PLACE", "STREET")


def test_features_tell_the_label_and_not_all_of_it():
    rows = clinic(2000)
    ill = np.array([row["diabetic"] == "yes" for row in rows])
    glucose = np.array([row["glucose"] for row in rows])
    guess = ((glucose > np.median(glucose)) == ill).mean()
    assert 0.65 < guess < 0.9
    pulse = np.array([row["pulse"] for row in rows])
    assert abs(((pulse > np.median(pulse)) == ill).mean() - 0.5) < 0.06
    assert clinic(600) == clinic(600) != clinic(600, seed=1)
