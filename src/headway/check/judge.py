"""The judge: replays a synchronized program against the specification, for given inputs.

It runs the engine programs in some order that they allow (thresholds depend on control flow only,
so every order gives the same answer) and keeps, for every engine and every signal, which
completions lie before it for sure. A wait `q >= t` of an instance with requirement r is exact iff

    r <= t <= max(r, what is known of q anyway)

Less, and an instance may issue before something it depends on: early. More, and it may stand
still for nothing: late. Nothing here is shared with the strategies.

Positions are numbers of completions here; where an instance is silent, those of signals differ.

A flag is one more counter: to set it is its signal, which tells all that its engine knew and that
everything issued on its counter has completed; the k-th take is a wait for the k-th signal. A take
is exact if its token tells nothing but what the instance requires or what is known anyway. Where
a flag holds only some tokens, takes are counted too, and known like completions.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import NamedTuple

from headway.check import findings
from headway.check.knowledge import Knowledge, Vector
from headway.check.narrow import Looked, Watch, seen_by_comparisons
from headway.check.needs import Need, followers, reference
from headway.check.verdict import Finding, Verdict, verdict
from headway.ir.expr import Inputs
from headway.ir.program import Instr, control_counter
from headway.ir.walk import walk
from headway.spec import MAX_INSTANCES, Instance, Signals
from headway.sync.expand import ConcreteWait, Event, expand
from headway.sync.program import SyncProgram


def check(
    sync: SyncProgram,
    inputs: Inputs,
    limit: int = MAX_INSTANCES,
    needs: list[Need] | None = None,
) -> Verdict:
    """Judge a verified program for given inputs. `needs` is its `reference`, if that is known.

    Raise InvalidInput if the inputs do not fit, or if a program is longer than `limit`.
    """
    if needs is None:
        needs = reference(sync, inputs, limit)
    return _judged(sync, needs, expand(sync, inputs, limit))


def check_events(
    sync: SyncProgram, events: dict[str, list[Event]], inputs: Inputs, limit: int = MAX_INSTANCES
) -> Verdict:
    """Judge events of the engines of `sync`, whatever program they come from. Raise likewise."""
    return _judged(sync, reference(sync, inputs, limit), events)


def _judged(sync: SyncProgram, needs: list[Need], events: dict[str, list[Event]]) -> Verdict:
    replay = Replay(sync, needs, seen_by_comparisons(events, sync.semaphores))
    replay.run()
    return verdict(replay.findings, len(needs), replay.waits)


class _Token(NamedTuple):
    """What has to be over when a token is there: completions, and work its engine had issued."""

    known: Vector
    issued: tuple[tuple[str, int], ...]


class Replay:
    """One run of all engine programs."""

    def __init__(
        self, sync: SyncProgram, needs: list[Need], events: dict[str, list[Event]]
    ) -> None:
        self.waits = 0
        self.late: list[tuple[ConcreteWait, int]] = []  # late waits, by how many signals
        self._found: list[tuple[int, int, Finding]] = []
        self._program = sync.program
        self._events = events
        self._needs: defaultdict[str, list[Need]] = defaultdict(list)
        for need in needs:
            self._needs[need.instance.counter].append(need)
        self._counter = {
            node.name: node.counter for node in walk(sync.program.body) if isinstance(node, Instr)
        }
        hosts = [engine.engine for engine in sync.engines]
        engines = dict.fromkeys((*sync.program.hosts, *hosts))
        counters = (
            *engines,
            *(queue.name for queue in sync.program.queues),
            *map(control_counter, engines),
        )
        self._flags = {flag.name: flag for flag in sync.flags}
        self._tokens: dict[str, list[_Token]] = {name: [] for name in self._flags}
        self._hosted = {
            engine: [engine, *(q.name for q in sync.program.queues if q.host == engine)]
            for engine in engines
        }
        self._counters = counters
        self._signals = Signals.of(need.instance for need in needs)
        self._taken = {flag.name: f"{flag.name} taken" for flag in sync.flags if flag.holds}
        self._knowledge = Knowledge((*counters, *self._flags, *self._taken.values()))
        self._known: dict[str, Vector] = dict.fromkeys(hosts, self._knowledge.nothing)
        self._next = dict.fromkeys(hosts, 0)
        self._base = dict.fromkeys((*counters, *self._flags), 0)
        # What an engine has waited for before it set flags: judged with its next instance.
        self._passed: dict[str, tuple[ConcreteWait, ...]] = dict.fromkeys(hosts, ())
        # The last barrier, and what was known before it: judged with the next instance.
        self._barriers: dict[str, tuple[Event, Vector]] = {}
        self._disordered: set[str] = set()
        self._followers = followers(sync)
        hosted = ((q, engine) for engine, own in self._hosted.items() for q in own)
        control = ((control_counter(engine), engine) for engine in engines)
        self._watch = Watch(sync.semaphores, dict((*hosted, *control)))
        self._engine_number = {engine: number for number, engine in enumerate(hosts)}

    @property
    def findings(self) -> list[Finding]:
        """All that is wrong, whatever order it was found in: by instance, then by engine."""
        return [finding for _, _, finding in sorted(self._found, key=lambda found: found[:2])]

    def _tell(self, engine: str, finding: Finding, number: int = 0) -> None:
        self._found.append((number, self._engine_number.get(engine, 0), finding))

    def run(self) -> None:
        """Run until all engines have ended or none can go on."""
        ready = deque(self._events)
        blocked: defaultdict[str, list[str]] = defaultdict(list)
        at_barrier: list[str] = []
        while ready:
            engine = ready.popleft()
            while (event := self._event(engine)).kind != "end":
                missing = self._missing(event)
                if missing:
                    blocked[missing.counter].append(engine)
                    break
                if event.kind == "barrier":
                    at_barrier.append(engine)
                    break
                counter = self._step(engine, event)
                if counter is None:
                    self._disordered.add(engine)
                    break
                ready += blocked.pop(counter, ())
            if len(at_barrier) == len(self._events):
                self._barrier()
                ready += at_barrier
                at_barrier = []
        if not self._disordered:
            self._report_stuck(at_barrier)

    def _event(self, engine: str) -> Event:
        return self._events[engine][self._next[engine]]

    def _position(self, wait: ConcreteWait) -> int:
        """Return the position that a wait names, counted through barriers; 0 if it names none."""
        if wait.threshold <= 0:
            return 0
        before = self._signals.among(wait.counter, self._base[wait.counter])
        return self._signals.position(wait.counter, before + wait.threshold)

    def _reached(self, counter: str) -> int:
        return len(self._knowledge.signals[counter])

    def _given(self, counter: str) -> int:
        """Return how many signals a counter has given since the last barrier."""
        among = self._signals.among
        return among(counter, self._reached(counter)) - among(counter, self._base[counter])

    def _missing(self, event: Event) -> ConcreteWait | None:
        for wait in event.waits:
            if self._position(wait) > self._reached(wait.counter):
                return wait
        return None

    def _step(self, engine: str, event: Event) -> str | None:
        """Issue the next instance of an engine; return its counter, or None out of turn."""
        need = self._need(engine, event)
        if need is None and event.kind != "set":
            self._tell(engine, findings.out_of_order(engine, event, self._expected(engine, event)))
            return None
        self._next[engine] += 1
        self.waits += len(event.waits)
        self._count_takes(engine, event)
        event = self._with_passed(engine, event)
        if need is None:
            self._set(engine, event)
            return event.name
        self._passed[engine] = ()
        self._look(engine, event)
        known = self._judge(engine, event, need)
        counter = need.instance.counter
        told = self._knowledge.signal(counter, known)
        # A load holds the sequencer until it is done; an instruction goes on without it.
        self._known[engine] = told if event.kind == "load" else known
        return counter

    def _with_passed(self, engine: str, event: Event) -> Event:
        """Return an event with the waits in front of the sets before it, which count for it too."""
        passed = self._passed[engine]
        return event._replace(waits=(*passed, *event.waits)) if passed else event

    def _look(self, engine: str, event: Event) -> None:
        """Note the waits passed in front of an instance, a barrier or the end."""
        counter = "" if event.kind in ("barrier", "end") else self._counter_of(engine, event)
        position = self._reached(counter) + 1 if counter else 0
        for wait in event.waits:
            looked = Looked(engine, event, wait, counter, position)
            self._watch.note(looked, self._given(wait.counter))

    def _find_overtaken(self) -> None:
        for looked, semaphore in self._watch.overtaken(self._knowledge, self._base, self._signals):
            late = findings.overtaken(looked.engine, looked.event, looked.wait, semaphore)
            self._tell(looked.engine, late)

    def _count_takes(self, engine: str, event: Event) -> None:
        """Let an engine know the takes that it has just passed, where they are counted."""
        for wait in event.waits:
            if taken := self._taken.get(wait.counter):
                self._known[engine] = self._knowledge.signal(taken, self._known[engine])

    def _set(self, engine: str, event: Event) -> None:
        """Add a token to a flag; there has to be room for it for sure."""
        self._passed[engine] = event.waits
        counter = self._flags[event.name].counter
        passed = [(wait.counter, self._position(wait)) for wait in event.waits]
        before = (counter, self._reached(counter))
        known = self._knowledge.after(self._known[engine], [*passed, before])
        told = self._knowledge.signal(event.name, known)
        issued = tuple((q, self._reached(q)) for q in self._hosted[engine])
        flag, token = self._flags[event.name], len(self._tokens[event.name]) + 1
        taken = self._of(told, self._taken[event.name]) if flag.holds else 0
        if flag.holds and token - taken > flag.holds:
            self._tell(engine, findings.overfull(engine, event, flag, token, taken))
        self._tokens[event.name].append(_Token(told, issued))

    def _judge(self, engine: str, event: Event, need: Need) -> Vector:
        """Judge the waits of one instance; return what is known when it is issued."""
        self._judge_barrier(engine, need)
        known = self._in_order(engine, need, self._known[engine])
        waited = [(w.counter, self._position(w)) for w in event.waits]
        final = self._knowledge.after(known, waited)
        known, stricter = self._apply_exact(event, self._allowed(need), known, final)
        for wait in stricter:
            if self._position(wait) > self._of(known, wait.counter):
                self._tell(engine, self._late(need, wait, known, final), need.number)
                number = self._signals.number
                required = number(wait.counter, need.required.get(wait.counter, 0))
                self.late.append((wait, number(wait.counter, self._position(wait)) - required))
        for counter in self._counters:
            if self._of(final, counter) < need.required.get(counter, 0):
                self._tell(engine, self._early(event, need, counter), need.number)
        return final

    def _in_order(self, engine: str, need: Need, known: Vector) -> Vector:
        """Add what the next instance of a serial engine follows anyway: those before it."""
        if need.instance.counter == engine and engine in self._program.serial:
            return self._knowledge.after(known, [(engine, self._reached(engine))])
        return known

    def _allowed(self, need: Need) -> dict[str, int]:
        """Return the highest positions that the instance may wait for: what the ideal waits for.

        In the ideal, an engine without work inside a loop or if does not load its control value,
        and what a silent instance has done is seen with the next signal.
        """
        if self._is_follower(need.instance):
            return {}
        return {
            q: self._signals.cover(q, position)
            for q, position in need.required.items()
            if not self._is_follower(self._needs[q][position - 1].instance)
        }

    def _is_follower(self, instance: Instance) -> bool:
        return (instance.node.name, instance.engine) in self._followers

    def _apply_exact(
        self, event: Event, allowed: dict[str, int], known: Vector, final: Vector
    ) -> tuple[Vector, list[ConcreteWait]]:
        """Let the waits pass that ask for no more than allowed; return the others."""
        exact: list[tuple[str, int]] = []
        stricter: list[ConcreteWait] = []
        for wait in event.waits:
            position = self._position(wait)
            if wait.counter in self._flags:
                is_exact = self._is_free(wait, self._with(allowed, known, final))
            else:
                is_exact = position <= allowed.get(wait.counter, 0)
            if is_exact:
                exact.append((wait.counter, position))
            elif position > self._of(known, wait.counter):
                stricter.append(wait)
        return self._knowledge.after(known, exact), stricter

    def _with(self, allowed: dict[str, int], known: Vector, final: Vector) -> Vector:
        """Return what is known when the instance has all that it may wait for, and does."""
        positions = ((q, min(position, self._of(final, q))) for q, position in allowed.items())
        return self._knowledge.after(known, positions)

    def _is_free(self, take: ConcreteWait, known: Vector) -> bool:
        """Tell whether a token is there as soon as `known` holds (conservative).

        A pipelined engine is held up by what it issues too, so the last thing it had issued on
        itself has to have begun: it is over, or something that was issued later is.
        """
        token = self._tokens[take.counter][take.threshold - 1]
        engine = token.issued[0][0]
        if any(self._of(token.known, q) > self._of(known, q) for q in self._counters):
            return False
        if engine in self._program.serial or token.issued[0][1] <= self._of(known, engine):
            return True
        return any(self._of(known, q) > position for q, position in token.issued)

    def _late(self, need: Need, wait: ConcreteWait, known: Vector, final: Vector) -> Finding:
        required = self._numbers(need)
        if wait.counter not in self._flags:
            position = self._signals.number(wait.counter, self._position(wait))
            return findings.late(need.instance, wait, position, required)
        token = self._tokens[wait.counter][wait.threshold - 1]
        known = self._with(self._allowed(need), known, final)
        told = ((q, self._of(token.known, q)) for q in self._counters)
        late = (pair for pair in told if pair[1] > self._of(known, pair[0]))
        counter, position = next(late, token.issued[0])
        position = self._signals.number(counter, position)
        return findings.late_take(need.instance, wait, counter, position, required)

    def _numbers(self, need: Need) -> dict[str, int]:
        """Return the signals that show what an instance requires."""
        return {q: self._signals.number(q, position) for q, position in need.required.items()}

    def _of(self, known: Vector, counter: str) -> int:
        return known[self._knowledge.index[counter]]

    def _early(self, event: Event, need: Need, counter: str) -> Finding:
        position, signals = need.required[counter], self._signals
        before = self._needs[counter][position - 1].instance
        before = before._replace(position=signals.number(counter, position))
        waits = [(self._position(w), str(w.wait)) for w in event.waits if w.counter == counter]
        waits += self._tokens_from(counter, event)
        waited, wait = max(waits, key=lambda pair: pair[0], default=(0, ""))
        waited = signals.among(counter, waited)
        return findings.early(event, need.instance, before, waited, wait)

    def _tokens_from(self, counter: str, event: Event) -> Iterator[tuple[int, str]]:
        for wait in event.waits:
            if wait.counter in self._flags and self._flags[wait.counter].counter == counter:
                told = self._tokens[wait.counter][wait.threshold - 1].known
                yield self._of(told, counter), f"take {wait.counter}"

    def _barrier(self) -> None:
        """All engines meet: everything issued has completed, and counting starts again."""
        for engine in self._events:
            self._count_takes(engine, self._event(engine))
        everything = self._knowledge.everything()
        for engine in self._events:
            self._look(engine, self._with_passed(engine, self._event(engine)))
        self._find_overtaken()
        for engine in self._events:
            before = self._barriers[engine][1] if engine in self._barriers else self._known[engine]
            self._barriers[engine] = self._event(engine), before
            self._next[engine] += 1
            self._known[engine] = everything
            self._passed[engine] = ()
        self._base |= dict(zip(self._counters, everything, strict=False))  # flags stay

    def _judge_barrier(self, engine: str, need: Need) -> None:
        """A barrier is late for an engine whose next instance requires less than everything.

        An engine that next needs a signal from behind the barrier is passed over: that signal
        knows what its own engine knew, and some engine comes first.
        """
        if engine not in self._barriers:
            return
        barrier, before = self._barriers.pop(engine)
        allowed = self._allowed(need)
        if any(position > self._base[q] for q, position in allowed.items()):
            return
        known = self._knowledge.after(self._in_order(engine, need, before), allowed.items())
        for counter in self._counters:
            if self._of(known, counter) < self._base[counter]:
                position = self._signals.among(counter, self._base[counter])
                needed = self._numbers(need).get(counter, 0)
                late = findings.late_barrier(barrier, need.instance, counter, position, needed)
                self._tell(engine, late, need.number)
                return

    def _need(self, engine: str, event: Event) -> Need | None:
        """Return what an event issues; None if it issues nothing, or nothing that has its turn."""
        if event.kind not in ("exec", "load"):
            return None
        needs = self._needs[self._counter_of(engine, event)]
        position = self._reached(self._counter_of(engine, event))
        if position < len(needs) and needs[position].instance.node.name == event.name:
            return needs[position]
        return None

    def _expected(self, engine: str, event: Event) -> Instance | None:
        needs = self._needs[self._counter_of(engine, event)]
        position = self._reached(self._counter_of(engine, event))
        return needs[position].instance if position < len(needs) else None

    def _counter_of(self, engine: str, event: Event) -> str:
        return control_counter(engine) if event.kind == "load" else self._counter[event.name]

    def _waits_for(self) -> dict[str, str]:
        """Return who waits for whom."""
        hosts = {q: engine for engine, own in self._hosted.items() for q in own}
        hosts |= {control_counter(engine): engine for engine in self._hosted}
        hosts |= {flag.name: hosts[flag.counter] for flag in self._flags.values()}
        stuck = ((engine, self._missing(self._event(engine))) for engine in self._events)
        return {engine: hosts[wait.counter] for engine, wait in stuck if wait}

    def _report_stuck(self, at_barrier: list[str]) -> None:
        """Report engines that cannot go on; if there are none, what was never issued."""
        for engine in self._events:
            event = self._event(engine)
            if event.kind == "end" and not self._missing(event):
                self._look(engine, self._with_passed(engine, event))
        self._find_overtaken()
        before = len(self._found)
        waits_for = self._waits_for()
        absent = [engine for engine in self._events if engine not in at_barrier]
        ended = [e for e in absent if not self._missing(self._event(e))]
        for engine in self._events:
            event = self._event(engine)
            if engine in at_barrier:
                told = findings.lonely_barrier(engine, event, absent, ended)
                self._tell(engine, told, int(absent != ended))
            elif missing := self._missing(event):
                reached = self._given(missing.counter)
                total = reached + self._to_come(missing.counter)
                tell = findings.no_token if missing.counter in self._flags else findings.deadlock
                is_cycle = missing.threshold <= total  # what can never come is told first
                found = tell(engine, event, missing, reached, total, waits_for)
                self._tell(engine, found, int(is_cycle))
        if len(self._found) == before:
            self._report_missing()
            self._report_leftover()

    def _to_come(self, counter: str) -> int:
        """Return how many signals of a counter are still to come, if nobody is stuck."""
        reached, among = self._reached(counter), self._signals.among
        if counter in self._flags:
            events = (event for events in self._events.values() for event in events)
            sets = sum(event.kind == "set" and event.name == counter for event in events)
            return sets - reached
        ended = (engine for engine in self._events if self._event(engine).kind == "end")
        if any(counter in (*self._hosted[e], control_counter(e)) for e in ended):
            return 0
        return among(counter, len(self._needs[counter])) - among(counter, reached)

    def _report_leftover(self) -> None:
        events = (event for events in self._events.values() for event in events)
        taken = Counter(wait.counter for event in events for wait in event.waits)
        for flag in self._flags.values():
            left = self._reached(flag.name) - taken[flag.name]
            if left:
                self._tell("", findings.leftover(flag, left))

    def _report_missing(self) -> None:
        for counter in self._counters:
            needs, reached = self._needs[counter], self._reached(counter)
            if reached < len(needs):
                self._tell("", findings.never_issued(needs[reached].instance))
