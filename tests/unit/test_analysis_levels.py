"""Levels compare positions of signals, also through loops and ifs."""

from __future__ import annotations

from headway.analysis.levels import FAR, NEVER, SPAN, Levels, Shift

Q = 0


def in_loop(before: int) -> Levels:
    """Return levels at the header of a loop, zone 1, entered after some signals."""
    levels = Levels(1)
    levels.count[Q] = before
    levels.open(Q, 1, before)
    return levels


def test_level_in_a_loop_covers_everything_before_the_loop():
    assert in_loop(7).covers(Q, SPAN, 7)
    assert in_loop(7).covers(Q, SPAN + 3, 1)


def test_level_behind_the_count_covers_what_it_does_in_the_first_iteration_only():
    levels = in_loop(7)
    assert levels.covers(Q, SPAN - 2, 5)  # 2 signals ago: 5 of 7 at the entry
    assert not levels.covers(Q, SPAN - 2, 6)


def test_older_level_never_covers_a_newer_one():
    assert not in_loop(7).covers(Q, 7, SPAN)


def test_nothing_known_covers_nothing():
    assert not in_loop(7).covers(Q, NEVER, 0)


def test_lower_bound_of_levels_of_two_zones_holds_for_both():
    levels = in_loop(7)
    assert levels.meet(Q, 3, SPAN + 5) == 3
    assert levels.meet(Q, 7, SPAN - 2) == 5
    assert levels.meet(Q, NEVER, SPAN) == NEVER


def test_lower_bound_is_looked_for_only_so_far():
    levels = in_loop(7)
    for zone in range(2, FAR + 2):
        levels.open(Q, zone, (zone - 1) * SPAN + 1)  # one loop after the other
    assert levels.meet(Q, 3, (FAR - 1) * SPAN) == 3
    assert levels.meet(Q, 3, (FAR + 1) * SPAN) == NEVER


def test_upper_bound_of_levels_of_two_zones_holds_for_both():
    levels = in_loop(7)
    assert levels.join(3, SPAN - 2) == SPAN  # 3 may be the last signal before the header
    assert levels.join(3, SPAN + 5) == SPAN + 5


def test_only_levels_near_the_count_have_a_static_distance():
    levels = in_loop(7)
    assert levels.is_static(Q, SPAN - 1, SPAN - 1)
    assert not levels.is_static(Q, SPAN - 2, SPAN - 1)
    assert not levels.is_static(Q, 7, 7)


def test_behind_the_back_edge_levels_keep_their_distance_to_the_count():
    levels = in_loop(7)
    shift = Shift(levels)
    shift.add(Q, SPAN + 4, SPAN, 1)
    assert shift.lower(Q, SPAN + 3) == SPAN - 1
    assert shift.upper(Q, SPAN + 3) == SPAN - 1
    assert shift.lowers((5,)) == (5,)  # from before the loop: as it was


def test_where_the_distance_to_the_count_is_lost_bounds_remain():
    levels = in_loop(7)
    levels.open(Q, 2, SPAN + 1)  # an inner loop
    shift = Shift(levels)
    shift.add(Q, 2 * SPAN + 3, SPAN, 1)  # from behind it to the header of the outer one
    assert shift.lower(Q, SPAN + 1) == 7
    assert shift.upper(Q, SPAN + 1) == SPAN
    assert shift.lower(Q, 2 * SPAN + 2) == SPAN - 1


def test_empty_shift_changes_nothing():
    shift = Shift(Levels(2))
    assert shift.is_empty
    assert shift.lowers((3, NEVER)) == (3, NEVER)
