module
public import Headway.Engine
@[expose] public noncomputable section

/-!
# Acceptable thresholds: which waits may be dropped, weakened or strengthened

A wait need not carry exactly `required`. It may be lower, or absent, if what it would establish is known from earlier waits, and it may be
higher, as far as the higher value is known anyway. `Known w e n q k` says what is known: when instance number `n` of engine `e` has
passed its waits in the streams `w`, then `k` signals of `q` have arrived. Knowledge passes through other engines: what was known to an
instance whose signal has been seen is known (`Known.through`). Nothing is concluded from a threshold of 0.

* `acceptable_bisim`: if each threshold of either system is known in the other, the machines are bisimilar. This is the
  interval of the design: not below `required` unless known, not above it unless known.
* `reduces_bisim`: the special case in which waits are only dropped or lowered.
* `at_least_sound`: thresholds at least `required` are sound; `too_late_stalls`: a threshold that is not met where a correct schedule would
  go on loses that schedule.
* `ordered_needs_no_wait`: where the hardware orders by itself (a counter whose instructions run one at a time) no wait is needed.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-! ## Streams of a reference -/

/-- `w` issues the instances of `T`, engine by engine, in order. -/
def Issues (T : List (Instance E Q)) (w : E → Stream E Q) : Prop :=
  ∀ (e : E) (n : Nat), ((w e)[n]?).map Prod.fst = (onEngine e T)[n]?

theorem Issues.get {T : List (Instance E Q)} {w : E → Stream E Q} (h : Issues T w) {e : E} {n : Nat}
    {c : Instance E Q} {g : Q → Nat} (hw : (w e)[n]? = some (c, g)) : (onEngine e T)[n]? = some c := by
  rw [← h e n, hw]; rfl

theorem Issues.engine {T : List (Instance E Q)} {w : E → Stream E Q} (h : Issues T w) {e : E} {n : Nat}
    {c : Instance E Q} {g : Q → Nat} (hw : (w e)[n]? = some (c, g)) : c.engine = e := by
  obtain ⟨_, _, _, h2, _⟩ := (onEngine_get_iff _ _ _ _).mp (h.get hw)
  exact h2

theorem requiredStreams_issues (D : DepRel E Q) (T : List (Instance E Q)) : Issues T (requiredStreams D T) := by
  intro e n
  cases h : (requiredStreams D T e)[n]? with
  | some x =>
    obtain ⟨a, b, h1, h2, h3, _⟩ := (requiredStreams_get D T e n x.1 x.2).mp h
    exact ((onEngine_get_iff _ _ _ _).mpr ⟨a, b, h1, h2, h3⟩).symm
  | none =>
    cases h' : (onEngine e T)[n]? with
    | none => rfl
    | some c =>
      obtain ⟨a, b, h1, h2, h3⟩ := (onEngine_get_iff _ _ _ _).mp h'
      rw [(requiredStreams_get D T e n c _).mpr ⟨a, b, h1, h2, h3, rfl⟩] at h
      simp at h

/-- Event `a` may follow the trace `x` in the guarded machine. -/
def MayFollowGuarded (w : E → Stream E Q) (x : List (Event E Q)) : Event E Q → Prop
  | .issue c => ∃ g, (w c.engine)[issued c.engine x]? = some (c, g) ∧ ∀ q, g q ≤ completed q x
  | .complete q => completed q x < started q x

theorem guardedStep_counts (w : E → Stream E Q) (x : List (Event E Q)) (a : Event E Q) (s : Counts E Q) :
    GuardedStep w (counts x) (some a) s ↔ MayFollowGuarded w x a ∧ s = counts (x ++ [a]) := by
  constructor
  · intro h
    cases h with
    | issue e c g hw he hg =>
      subst he
      exact ⟨⟨g, hw, hg⟩, counts_issue x c⟩
    | complete q h => exact ⟨h, counts_complete x q⟩
  · rintro ⟨h, rfl⟩
    cases a with
    | issue c =>
      obtain ⟨g, hw, hg⟩ := h
      rw [← counts_issue]
      exact .issue c.engine c g hw rfl hg
    | complete q =>
      rw [← counts_complete]
      exact .complete q h

theorem guarded_no_silent {w : E → Stream E Q} {s t : Counts E Q} : ¬ GuardedStep w s none t := by
  intro h; cases h

theorem guarded_run_iff (w : E → Stream E Q) (x tr : List (Event E Q)) (s : Counts E Q) :
    Run (Guarded w) (counts x) tr s ↔
      (∀ u a y, tr = u ++ a :: y → MayFollowGuarded w (x ++ u) a) ∧ s = counts (x ++ tr) := by
  have hnt : ∀ s t, ¬ (Guarded w).step s none t := fun _ _ => guarded_no_silent
  induction tr generalizing x with
  | nil =>
    constructor
    · intro h
      have := Run.nil_inv hnt h
      exact ⟨by simp, by rw [this]; simp⟩
    · rintro ⟨_, rfl⟩; simp; exact .nil _
  | cons a t ih =>
    constructor
    · intro h
      obtain ⟨s1, h1, h2⟩ := Run.cons_inv hnt h
      obtain ⟨h3, rfl⟩ := (guardedStep_counts w x _ _).mp h1
      obtain ⟨h5, h6⟩ := (ih _).mp h2
      refine ⟨?_, by simpa using h6⟩
      intro u b y e
      cases u with
      | nil => simp at e; obtain ⟨rfl, rfl⟩ := e; simpa using h3
      | cons c u =>
        simp at e
        obtain ⟨rfl, e⟩ := e
        simpa using h5 u b y e
    · rintro ⟨h, rfl⟩
      have h1 : MayFollowGuarded w x a := by simpa using h [] a t rfl
      have h2 := (ih (x ++ [a])).mpr ⟨fun u b y e => by
        have := h (a :: u) b y (by simp [e]); simpa using this, by simp⟩
      exact .vis ((guardedStep_counts w x a _).mpr ⟨h1, rfl⟩) h2

/-- The traces of a guarded machine, event by event. -/
theorem guarded_traces (w : E → Stream E Q) (tr : List (Event E Q)) :
    Traces (Guarded w) tr ↔ ∀ u a y, tr = u ++ a :: y → MayFollowGuarded w u a := by
  constructor
  · rintro ⟨s, h⟩
    simpa using ((guarded_run_iff w [] tr s).mp h).1
  · intro h
    exact ⟨_, (guarded_run_iff w [] tr _).mpr ⟨by simpa using h, rfl⟩⟩

/-! ## Too high is sound, too high where it matters is late -/

/-- The thresholds of `w` are at least the required ones. -/
def AtLeastRequired (D : DepRel E Q) (T : List (Instance E Q)) (w : E → Stream E Q) : Prop :=
  ∀ (e : E) (n : Nat) (c : Instance E Q) (g : Q → Nat), (w e)[n]? = some (c, g) →
    ∀ pre post, T = pre ++ c :: post → c.engine = e → turns e pre = n → ∀ q, required D pre c q ≤ g q

/-- A placement with thresholds at least `required` is sound: all its schedules are correct. -/
theorem at_least_sound {D : DepRel E Q} {T : List (Instance E Q)} {w : E → Stream E Q} (hs : Issues T w)
    (h : AtLeastRequired D T w) (tr : List (Event E Q)) (ht : Traces (Guarded w) tr) :
    InOrder T tr ∧ Respects D T tr := by
  have ht := (guarded_traces w tr).mp ht
  rw [← allFollow_iff]
  intro u a y e
  have := ht u a y e
  cases a with
  | issue c =>
    obtain ⟨g, hw, hg⟩ := this
    obtain ⟨pre, post, hT, _, hn⟩ := (onEngine_get_iff _ _ _ _).mp (hs.get hw)
    refine ⟨pre, post, hT, by simpa using hn, ?_⟩
    have hr := h _ _ c g hw pre post hT rfl hn
    simpa using (required_le_iff D pre c (fun q => completed q u)).mp (fun q => Nat.le_trans (hr q) (hg q))
  | complete e' => simpa [MayFollow, MayFollowGuarded] using this

/-- Never later: where `c` could correctly issue after the schedule `x` but a threshold of `w` is not met, the correct
schedule `x` followed by the issue of `c` cannot be produced by `w`. -/
theorem too_late_stalls {D : DepRel E Q} {T : List (Instance E Q)} {w : E → Stream E Q}
    {x : List (Event E Q)} {c : Instance E Q} (hx : AllFollow D T [] (x ++ [.issue c])) {g : Q → Nat} {q : Q}
    (hw : (w c.engine)[issued c.engine x]? = some (c, g)) (hg : completed q x < g q) :
    (InOrder T (x ++ [.issue c]) ∧ Respects D T (x ++ [.issue c])) ∧ ¬ Traces (Guarded w) (x ++ [.issue c]) := by
  refine ⟨(allFollow_iff D T _).mp hx, ?_⟩
  intro h
  obtain ⟨g', hw', hg'⟩ := (guarded_traces w _).mp h x _ [] rfl
  rw [hw] at hw'
  simp at hw'
  subst hw'
  have := hg' q
  omega

/-! ## What is known -/

/-- The signals of `q` among the first `n` instances of a stream. -/
def signalsBefore (q : Q) (l : Stream E Q) (n : Nat) : Nat := signals q ((l.take n).map Prod.fst)

/-- When instance number `n` of engine `e` has passed its waits in `w`, then `k` signals of `q` have arrived. -/
inductive Known (host : Q → E) (w : E → Stream E Q) : E → Nat → Q → Nat → Prop
  /-- Nothing is known for free. -/
  | zero {e n q} : Known host w e n q 0
  /-- Its own wait. -/
  | own {e : E} {n : Nat} {c : Instance E Q} {g : Q → Nat} {q : Q} {k : Nat} :
      (w e)[n]? = some (c, g) → k ≤ g q → Known host w e n q k
  /-- What an earlier instance of the same engine knew. -/
  | earlier {e m n q k} : m ≤ n → Known host w e m q k → Known host w e n q k
  /-- What an instance knew whose signal has been seen: instance `m` of the host of `p` has a position of at most `j`. -/
  | through {e : E} {n : Nat} {p q : Q} {j k m : Nat} {c : Instance E Q} {g : Q → Nat} :
      Known host w e n p j → (w (host p))[m]? = some (c, g) → c.counter = some p →
      signalsBefore p (w (host p)) m < j → Known host w (host p) m q k → Known host w e n q k

theorem Known.down {host : Q → E} {w : E → Stream E Q} {e : E} {q : Q} {n k : Nat} (h : Known host w e n q k) :
    ∀ k', k' ≤ k → Known host w e n q k' := by
  induction h with
  | zero => intro k' hk; rw [Nat.le_zero.mp hk]; exact .zero
  | own h1 h2 => intro k' hk; exact .own h1 (Nat.le_trans hk h2)
  | earlier h1 _ ih => intro k' hk; exact .earlier h1 (ih k' hk)
  | through h1 h2 h3 h4 _ _ ih => intro k' hk; exact .through h1 h2 h3 h4 (ih k' hk)

/-- Every instance of `w` comes from the host of its counter. -/
def StreamsHosted (host : Q → E) (w : E → Stream E Q) : Prop :=
  ∀ (e : E) (n : Nat) (c : Instance E Q) (g : Q → Nat) (q : Q), (w e)[n]? = some (c, g) → c.counter = some q → e = host q

/-- Invariant of a guarded machine: counters count what their host has issued, and the waits of every issued instance
still hold. -/
def WaitsHold (host : Q → E) (w : E → Stream E Q) (s : Counts E Q) : Prop :=
  (∀ q, s.completed q ≤ s.started q) ∧
  (∀ q, s.started q = signalsBefore q (w (host q)) (s.issued (host q))) ∧
  ∀ (e : E) (n : Nat) (c : Instance E Q) (g : Q → Nat), n < s.issued e → (w e)[n]? = some (c, g) →
    ∀ q, g q ≤ s.completed q

theorem signalsBefore_mono (q : Q) (l : Stream E Q) {n m : Nat} (h : n ≤ m) :
    signalsBefore q l n ≤ signalsBefore q l m := by
  simp only [signalsBefore, List.map_take]
  exact signals_take_mono q _ h

theorem signalsBefore_succ (q : Q) {l : Stream E Q} {n : Nat} {c : Instance E Q} {g : Q → Nat}
    (h : l[n]? = some (c, g)) :
    signalsBefore q l (n + 1) = signalsBefore q l n + (if c.counter = some q then 1 else 0) := by
  simp [signalsBefore, take_succ_of_get h, signals_cons]

/-- What is known is true, for issued instances and for the next one if its waits hold. -/
theorem known_holds {host : Q → E} {w : E → Stream E Q} {s : Counts E Q} (hi : WaitsHold host w s) {e : E} {n : Nat}
    {q : Q} {k : Nat} (h : Known host w e n q k) :
    (n < s.issued e ∨ n = s.issued e ∧ ∀ c g, (w e)[n]? = some (c, g) → ∀ q, g q ≤ s.completed q) →
      k ≤ s.completed q := by
  induction h with
  | zero => intro _; omega
  | own hw hk =>
    intro hn
    rcases hn with hn | ⟨_, hn⟩
    · exact Nat.le_trans hk (hi.2.2 _ _ _ _ hn hw _)
    · exact Nat.le_trans hk (hn _ _ hw _)
  | @earlier e m n q k hmn _ ih =>
    intro hn
    by_cases hm : m = n
    · subst hm; exact ih hn
    · apply ih; left
      rcases hn with hn | ⟨hn, _⟩ <;> omega
  | @through e n p q j k m c g _ hw hc hm _ ih1 ih2 =>
    intro hn
    have h1 := ih1 hn
    apply ih2; left
    have h2 := hi.1 p
    have h3 := hi.2.1 p
    by_cases hlt : m < s.issued (host p)
    · exact hlt
    · have := signalsBefore_mono p (w (host p)) (Nat.le_of_not_lt hlt)
      omega

theorem waitsHold_step {host : Q → E} {w : E → Stream E Q} {s s' : Counts E Q} {o : Option (Event E Q)}
    (hh : StreamsHosted host w)
    (hi : WaitsHold host w s) (h : GuardedStep w s o s') : WaitsHold host w s' := by
  cases h with
  | issue e c g hw he hg =>
    subst he
    refine ⟨fun q => ?_, fun q => ?_, ?_⟩
    · have := hi.1 q
      simp only [Counts.issue, start_apply]; omega
    · have h2 := hi.2.1 q
      simp only [Counts.issue, start_apply, increment_apply]
      by_cases hq : c.engine = host q
      · rw [hq] at hw ⊢
        simp only [if_true]
        rw [signalsBefore_succ q hw, h2]
      · have : c.counter ≠ some q := fun hc => hq (hh _ _ _ _ _ hw hc)
        simpa [hq, this] using h2
    · intro e' n c' g' hn hw'
      simp only [Counts.issue, increment_apply] at hn ⊢
      by_cases hn' : n < s.issued e'
      · exact hi.2.2 e' n c' g' hn' hw'
      · have he : c.engine = e' := by
          by_cases he : c.engine = e'
          · exact he
          · simp only [he, if_false] at hn; omega
        subst he
        have : n = s.issued c.engine := by simp only [if_true] at hn; omega
        subst this
        rw [hw] at hw'
        simp at hw'
        rw [← hw'.2]; exact hg
  | complete q h =>
    refine ⟨fun q' => ?_, fun q' => ?_, ?_⟩
    · have := hi.1 q'
      simp only [Counts.complete, increment_apply]
      split
      · rename_i he; subst he; omega
      · omega
    · exact hi.2.1 q'
    · intro e' n c' g' hn hw' q'
      exact Nat.le_trans (hi.2.2 e' n c' g' hn hw' q') (le_increment _ _ _)

theorem waitsHold_zero (host : Q → E) (w : E → Stream E Q) : WaitsHold host w .zero :=
  ⟨fun _ => Nat.le_refl _, fun q => by simp [Counts.zero, signalsBefore], fun _ _ _ _ hn => absurd hn (Nat.not_lt_zero _)⟩

/-! ## The interval -/

/-- Each wait of `w` is known in `w'`. -/
def KnownIn (host : Q → E) (w w' : E → Stream E Q) : Prop :=
  ∀ (e : E) (n : Nat) (c : Instance E Q) (g' : Q → Nat), (w' e)[n]? = some (c, g') →
    ∃ g, (w e)[n]? = some (c, g) ∧ ∀ q, Known host w' e n q (g q)

/-- Acceptable thresholds: every required wait is known in `w'` (nothing is issued too early) and every wait of `w'` is
known in the required one (nothing is issued too late). -/
structure Acceptable (host : Q → E) (w w' : E → Stream E Q) : Prop where
  not_early : KnownIn host w w'
  not_late : KnownIn host w' w

theorem acceptable_bisim {host : Q → E} {w w' : E → Stream E Q} (hh : StreamsHosted host w)
    (hh' : StreamsHosted host w') (h : Acceptable host w w') : Bisimilar (Guarded w') (Guarded w) := by
  have move : ∀ {u u' : E → Stream E Q} {s s' : Counts E Q} {o : Option (Event E Q)}, KnownIn host u u' →
      WaitsHold host u' s → GuardedStep u' s o s' → GuardedStep u s o s' := by
    intro u u' s s' o hk hi hs
    cases hs with
    | issue e c g hw he hg =>
      obtain ⟨g1, hw1, hk1⟩ := hk e _ c g hw
      refine .issue e c g1 hw1 he (fun q => known_holds hi (hk1 q) (.inr ⟨rfl, ?_⟩))
      intro c' g' hw'
      rw [hw] at hw'
      simp at hw'
      rw [← hw'.2]; exact hg
    | complete q h => exact .complete q h
  refine ⟨fun s t => s = t ∧ WaitsHold host w s ∧ WaitsHold host w' s, ⟨rfl, waitsHold_zero _ _, waitsHold_zero _ _⟩, ?_, ?_⟩
  · rintro s t ⟨rfl, hi, hi'⟩ o s' hs
    have hs2 := move h.not_early hi' hs
    exact ⟨s', .of_step hs2, rfl, waitsHold_step hh hi hs2, waitsHold_step hh' hi' hs⟩
  · rintro t s ⟨rfl, hi, hi'⟩ o t' ht
    have ht2 := move h.not_late hi ht
    exact ⟨t', .of_step ht2, rfl, waitsHold_step hh hi ht, waitsHold_step hh' hi' ht2⟩

/-- `w'` is `w` with waits dropped or lowered, and what was dropped is known in `w'` itself. -/
structure Reduces (host : Q → E) (w w' : E → Stream E Q) : Prop where
  sub : ∀ (e : E) (n : Nat) (c : Instance E Q) (g : Q → Nat), (w e)[n]? = some (c, g) →
    ∃ g', (w' e)[n]? = some (c, g') ∧ ∀ q, g' q ≤ g q
  known : KnownIn host w w'

theorem Reduces.acceptable {host : Q → E} {w w' : E → Stream E Q} (h : Reduces host w w') : Acceptable host w w' := by
  refine ⟨h.known, ?_⟩
  intro e n c g hw
  obtain ⟨g', hw', hle⟩ := h.sub e n c g hw
  exact ⟨g', hw', fun q => .own hw (hle q)⟩

theorem Reduces.hosted {host : Q → E} {w w' : E → Stream E Q} (h : Reduces host w w') (hh : StreamsHosted host w) :
    StreamsHosted host w' := by
  intro e n c g q hw hq
  obtain ⟨g1, hw1, _⟩ := h.known e n c g hw
  exact hh e n c g1 q hw1 hq

/-- Removing redundant waits is exact, also where they are redundant only through other engines. -/
theorem reduces_bisim {host : Q → E} {w w' : E → Stream E Q} (hh : StreamsHosted host w) (h : Reduces host w w') :
    Bisimilar (Guarded w') (Guarded w) := acceptable_bisim hh (h.hosted hh) h.acceptable

theorem requiredStreams_hosted {host : Q → E} (D : DepRel E Q) {T : List (Instance E Q)} (hh : Hosted host T) :
    StreamsHosted host (requiredStreams D T) := by
  intro e n c g q hw hq
  obtain ⟨a, b, h1, h2, _, _⟩ := (requiredStreams_get _ _ _ _ _ _).mp hw
  rw [← h2]; exact hh c (by rw [h1]; simp) q hq

/-- Any synchronized program whose thresholds are acceptable implements the specification exactly. -/
theorem acceptable_code_bisim {host : Q → E} (D : DepRel E Q) {T : List (Instance E Q)} (hh : Hosted host T)
    (ω : Control) (code : E → Code Q) (hc : StreamsHosted host (fun e => stream ω e (code e)))
    (h : Acceptable host (requiredStreams D T) (fun e => stream ω e (code e))) :
    Bisimilar (Machine ω code) (Spec D T) :=
  ((machine_bisim_guarded ω code).trans (acceptable_bisim (requiredStreams_hosted D hh) hc h)).trans
    (spec_bisim_guarded D T).symm

/-! ## What the hardware orders by itself -/

/-- `ordered q c`: the hardware issues `c` after all earlier signals of `q` anyway. So it is for the own counter of `c` if its
instructions run one at a time, and for the control reads of the own engine, whose sequencer stands still until they are done. -/
def hardwareOrder (ordered : Q → Instance E Q → Bool) : DepRel E Q := fun p c =>
  match p.counter with
  | some q => ordered q c
  | none => false

/-- The dependences that need a wait in the code. -/
def needsWait (ordered : Q → Instance E Q → Bool) (D : DepRel E Q) : DepRel E Q :=
  fun p c => D p c && !hardwareOrder ordered p c

/-- Both. -/
def either (D D' : DepRel E Q) : DepRel E Q := fun p c => D p c || D' p c

/-- Where the hardware orders two instances, a dependence between them needs no wait: with the order of the hardware added,
the dependences with a wait and all dependences are the same. -/
theorem ordered_needs_no_wait (ordered : Q → Instance E Q → Bool) (D : DepRel E Q) :
    either (needsWait ordered D) (hardwareOrder ordered) = either D (hardwareOrder ordered) := by
  funext p c
  simp only [either, needsWait]
  cases D p c <;> cases hardwareOrder ordered p c <;> rfl

/-- What `needsWait` requires of a counter: nothing where the hardware orders, else what `D` requires. -/
theorem required_needsWait (ordered : Q → Instance E Q → Bool) (D : DepRel E Q) (before : List (Instance E Q))
    (c : Instance E Q) (q : Q) :
    required (needsWait ordered D) before c q = if ordered q c = true then 0 else required D before c q := by
  have none : ∀ l : List (Instance E Q), ordered q c = true → lastPosition q (fun p => needsWait ordered D p c) l = 0 := by
    intro l ho
    refine Nat.le_zero.mp ((lastPosition_le_iff ..).mpr ?_)
    intro a p b _ hp hq
    simp [needsWait, hardwareOrder, hp, ho] at hq
  split
  · rename_i ho; exact none before ho
  · rename_i ho
    apply Nat.le_antisymm
    · refine (lastPosition_le_iff ..).mpr ?_
      intro a p b e hp hq
      simp only [needsWait, Bool.and_eq_true] at hq
      exact (lastPosition_le_iff q _ before _).mp (Nat.le_refl _) a p b e hp hq.1
    · refine (lastPosition_le_iff ..).mpr ?_
      intro a p b e hp hq
      refine (lastPosition_le_iff q _ before _).mp (Nat.le_refl _) a p b e hp ?_
      simp [needsWait, hardwareOrder, hp, ho, hq]

end Headway
end
