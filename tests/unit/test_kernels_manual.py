import pytest

from headway import check, kernels, simulate, synchronize, targets
from headway.kernels import manual


def test_at_least_eight_kernels_are_synchronized_by_hand() -> None:
    assert len(manual.names()) >= 8
    assert set(manual.names()) <= set(kernels.names())


@pytest.mark.thorough
@pytest.mark.parametrize("name", manual.names())
def test_what_is_written_by_hand_is_exact_and_no_faster(name: str) -> None:
    on = targets.load("trn2")
    kernel = kernels.load(name)
    by_hand = manual.load(name, on)
    assert by_hand.strategy == "manual"
    check(by_hand, kernel.inputs).raise_for_failure()
    counted = simulate(synchronize(kernel.program(), on, "counted"), kernel.inputs, on).latency
    assert counted <= 1.01 * simulate(by_hand, kernel.inputs, on).latency
