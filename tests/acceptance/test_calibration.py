"""The simulated trn1 is within 10% of the published times of the calibration loop."""

import pytest

from headway.bench.calibration import POINTS, Point


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.form)
def test_simulated_time_is_within_10_percent_of_the_published_one(point: Point) -> None:
    assert point.simulated_us() == pytest.approx(point.public_us, rel=0.1)
