module
public import Headway.Program
public import Headway.Lts
@[expose] public noncomputable section

/-!
# The specification machine: exactly the correct schedules

`Spec D T` issues an instance as soon as everything it depends on has completed, in the order of its engine. Its traces are exactly
the correct schedules of the sequential reference `T` (`spec_traces`): it never issues too early, and no correct schedule is lost.
An engine that issues earlier than `required` allows makes the schedule incorrect (`too_early_incorrect`). It never deadlocks
(`spec_live`).

A correct schedule is defined without any machine: `InOrder T tr ∧ Respects D T tr`.
-/

set_option autoImplicit false

namespace Headway

inductive Event (E Q : Type) where
  | issue (c : Instance E Q)
  | complete (q : Q)

/-- Per engine: instances issued. Per counter: instances started that will signal it, and completed. -/
structure Counts (E Q : Type) where
  issued : E → Nat
  started : Q → Nat
  completed : Q → Nat

def Counts.zero {E Q : Type} : Counts E Q := ⟨fun _ => 0, fun _ => 0, fun _ => 0⟩

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

def start (f : Q → Nat) : Option Q → Q → Nat
  | some q => increment f q
  | none => f

def Counts.issue (s : Counts E Q) (c : Instance E Q) : Counts E Q :=
  ⟨increment s.issued c.engine, start s.started c.counter, s.completed⟩

def Counts.complete (s : Counts E Q) (q : Q) : Counts E Q := ⟨s.issued, s.started, increment s.completed q⟩

/-- One step of the specification machine. The next instance `c` of its engine may issue exactly if every instance
`p` on which it depends has completed: `p`, at position `signals q a + 1`, is among the completed ones of its counter. -/
inductive SpecStep (D : DepRel E Q) (T : List (Instance E Q)) : Counts E Q → Option (Event E Q) → Counts E Q → Prop
  | issue {s} (pre c post) (hT : T = pre ++ c :: post) (hn : s.issued c.engine = turns c.engine pre)
      (hd : ∀ a p b q, pre = a ++ p :: b → D p c = true → p.counter = some q → signals q a + 1 ≤ s.completed q) :
      SpecStep D T s (some (.issue c)) (s.issue c)
  | complete {s} (q) (h : s.completed q < s.started q) :
      SpecStep D T s (some (.complete q)) (s.complete q)

def Spec (D : DepRel E Q) (T : List (Instance E Q)) : LTS (Event E Q) := ⟨Counts E Q, SpecStep D T, .zero⟩

/-! ## Correct schedules, without any machine -/

/-- Instances that engine `e` has issued in a trace. -/
def issued (e : E) : List (Event E Q) → Nat
  | [] => 0
  | .issue c :: t => (if c.engine = e then 1 else 0) + issued e t
  | .complete _ :: t => issued e t

/-- Instances issued in a trace that signal `q`. -/
def started (q : Q) : List (Event E Q) → Nat
  | [] => 0
  | .issue c :: t => (if c.counter = some q then 1 else 0) + started q t
  | .complete _ :: t => started q t

/-- Signals of `q` in a trace. -/
def completed (q : Q) : List (Event E Q) → Nat
  | [] => 0
  | .issue _ :: t => completed q t
  | .complete a :: t => (if a = q then 1 else 0) + completed q t

/-- What engines and queues can do at all: each engine issues its instances in program order, each counter is
signalled by what has been issued. -/
def InOrder (T : List (Instance E Q)) (tr : List (Event E Q)) : Prop :=
  (∀ x c y, tr = x ++ .issue c :: y → (onEngine c.engine T)[issued c.engine x]? = some c) ∧
  (∀ x q y, tr = x ++ .complete q :: y → completed q x < started q x)

/-- Every dependence is respected: when `c` issues, each earlier instance `p` with `D p c` has completed. -/
def Respects (D : DepRel E Q) (T : List (Instance E Q)) (tr : List (Event E Q)) : Prop :=
  ∀ x c y, tr = x ++ .issue c :: y →
    ∀ pre post, T = pre ++ c :: post → turns c.engine pre = issued c.engine x →
      ∀ a p b q, pre = a ++ p :: b → D p c = true → p.counter = some q → signals q a + 1 ≤ completed q x

/-- Everything has been issued and has completed. -/
def Done (T : List (Instance E Q)) (tr : List (Event E Q)) : Prop :=
  (∀ e, issued e tr = turns e T) ∧ ∀ q, completed q tr = signals q T

/-! ## Counting in traces -/

theorem issued_append (e : E) (x y : List (Event E Q)) : issued e (x ++ y) = issued e x + issued e y := by
  induction x with
  | nil => simp [issued]
  | cons a t ih => cases a <;> simp [issued, ih] <;> omega

theorem started_append (q : Q) (x y : List (Event E Q)) : started q (x ++ y) = started q x + started q y := by
  induction x with
  | nil => simp [started]
  | cons a t ih => cases a <;> simp [started, ih] <;> omega

theorem completed_append (q : Q) (x y : List (Event E Q)) : completed q (x ++ y) = completed q x + completed q y := by
  induction x with
  | nil => simp [completed]
  | cons a t ih => cases a <;> simp [completed, ih] <;> omega

theorem completed_mono (q : Q) (x y : List (Event E Q)) : completed q x ≤ completed q (x ++ y) := by
  rw [completed_append]; omega

theorem start_apply (f : Q → Nat) (o : Option Q) (q : Q) : start f o q = f q + (if o = some q then 1 else 0) := by
  cases o with
  | none => simp [start]
  | some a => simp [start, increment_apply]

/-- The counts of a trace. -/
def counts (x : List (Event E Q)) : Counts E Q := ⟨fun e => issued e x, fun q => started q x, fun q => completed q x⟩

theorem counts_nil : (counts [] : Counts E Q) = .zero := rfl

theorem counts_issue (x : List (Event E Q)) (c : Instance E Q) : (counts x).issue c = counts (x ++ [.issue c]) := by
  simp only [counts, Counts.issue, Counts.mk.injEq]
  refine ⟨?_, ?_, ?_⟩ <;> funext a
  · simp [increment_apply, issued_append, issued]
  · simp [start_apply, started_append, started]
  · simp [completed_append, completed]

theorem counts_complete (x : List (Event E Q)) (q : Q) : (counts x).complete q = counts (x ++ [.complete q]) := by
  simp only [counts, Counts.complete, Counts.mk.injEq]
  refine ⟨?_, ?_, ?_⟩ <;> funext a
  · simp [issued_append, issued]
  · simp [started_append, started]
  · simp [increment_apply, completed_append, completed]

/-! ## The specification machine produces exactly the correct schedules -/

/-- Event `a` may follow the trace `x`. -/
def MayFollow (D : DepRel E Q) (T : List (Instance E Q)) (x : List (Event E Q)) : Event E Q → Prop
  | .issue c => ∃ pre post, T = pre ++ c :: post ∧ turns c.engine pre = issued c.engine x ∧
      ∀ a p b q, pre = a ++ p :: b → D p c = true → p.counter = some q → signals q a + 1 ≤ completed q x
  | .complete q => completed q x < started q x

/-- Every event of `tr`, played after `x`, may follow what is before it. -/
def AllFollow (D : DepRel E Q) (T : List (Instance E Q)) (x tr : List (Event E Q)) : Prop :=
  ∀ u a y, tr = u ++ a :: y → MayFollow D T (x ++ u) a

theorem specStep_counts (D : DepRel E Q) (T : List (Instance E Q)) (x : List (Event E Q)) (a : Event E Q)
    (s : Counts E Q) : SpecStep D T (counts x) (some a) s ↔ MayFollow D T x a ∧ s = counts (x ++ [a]) := by
  constructor
  · intro h
    cases h with
    | issue pre c post hT hn hd => exact ⟨⟨pre, post, hT, hn.symm, hd⟩, counts_issue x c⟩
    | complete q h => exact ⟨h, counts_complete x q⟩
  · rintro ⟨h, rfl⟩
    cases a with
    | issue c =>
      obtain ⟨pre, post, hT, hn, hd⟩ := h
      rw [← counts_issue]
      exact .issue pre c post hT hn.symm hd
    | complete q =>
      rw [← counts_complete]
      exact .complete q h

theorem spec_no_silent {D : DepRel E Q} {T : List (Instance E Q)} {s t : Counts E Q} : ¬ SpecStep D T s none t := by
  intro h; cases h

theorem allFollow_cons {D : DepRel E Q} {T : List (Instance E Q)} {x tr : List (Event E Q)} {a : Event E Q} :
    AllFollow D T x (a :: tr) ↔ MayFollow D T x a ∧ AllFollow D T (x ++ [a]) tr := by
  constructor
  · intro h
    refine ⟨by simpa using h [] a tr rfl, ?_⟩
    intro u b y e
    have := h (a :: u) b y (by simp [e])
    simpa using this
  · rintro ⟨h1, h2⟩ u b y e
    cases u with
    | nil => simp at e; obtain ⟨rfl, rfl⟩ := e; simpa using h1
    | cons c u =>
      simp at e
      obtain ⟨rfl, e⟩ := e
      have := h2 u b y e
      simpa using this

theorem allFollow_prefix {D : DepRel E Q} {T : List (Instance E Q)} {x y : List (Event E Q)}
    (h : AllFollow D T [] (x ++ y)) : AllFollow D T [] x := fun u b z e => h u b (z ++ y) (by simp [e])

theorem spec_run_iff (D : DepRel E Q) (T : List (Instance E Q)) (x tr : List (Event E Q)) (s : Counts E Q) :
    Run (Spec D T) (counts x) tr s ↔ AllFollow D T x tr ∧ s = counts (x ++ tr) := by
  constructor
  · intro h
    have hnt : ∀ s t, ¬ (Spec D T).step s none t := fun _ _ => spec_no_silent
    induction tr generalizing x with
    | nil =>
      have := Run.nil_inv hnt h
      exact ⟨by simp [AllFollow], by rw [this]; simp⟩
    | cons a tr ih =>
      obtain ⟨t, h1, h2⟩ := Run.cons_inv hnt h
      obtain ⟨h3, h4⟩ := (specStep_counts D T x _ _).mp h1
      subst h4
      obtain ⟨h5, h6⟩ := ih _ h2
      exact ⟨allFollow_cons.mpr ⟨h3, h5⟩, by simpa using h6⟩
  · rintro ⟨h, rfl⟩
    induction tr generalizing x with
    | nil => simp; exact .nil _
    | cons a t ih =>
      obtain ⟨h1, h2⟩ := allFollow_cons.mp h
      have := ih _ h2
      rw [List.append_assoc] at this
      exact .vis ((specStep_counts D T x a _).mpr ⟨h1, rfl⟩) this

theorem allFollow_iff (D : DepRel E Q) (T : List (Instance E Q)) (tr : List (Event E Q)) :
    AllFollow D T [] tr ↔ InOrder T tr ∧ Respects D T tr := by
  constructor
  · intro h
    refine ⟨⟨?_, ?_⟩, ?_⟩
    · intro x c y e
      obtain ⟨pre, post, hT, hn, _⟩ := h x _ y e
      exact (onEngine_get_iff _ _ _ _).mpr ⟨pre, post, hT, rfl, by simpa using hn⟩
    · intro x q y he
      simpa [MayFollow] using h x _ y he
    · intro x c y e pre post hT hn
      obtain ⟨pre', post', hT', hn', hd⟩ := h x _ y e
      have := split_unique hT hT' rfl rfl (by simpa [hn] using hn'.symm)
      rw [this.1]
      simpa using hd
  · rintro ⟨⟨h1, h2⟩, h3⟩ u a y e
    cases a with
    | issue c =>
      obtain ⟨pre, post, hT, _, hn⟩ := (onEngine_get_iff _ _ _ _).mp (h1 u c y e)
      exact ⟨pre, post, hT, by simpa using hn, by simpa using h3 u c y e pre post hT hn⟩
    | complete q => simpa [MayFollow] using h2 u q y e

/-- Sound and maximally permissive: the traces of the specification machine are exactly the correct schedules. -/
theorem spec_traces (D : DepRel E Q) (T : List (Instance E Q)) (tr : List (Event E Q)) :
    Traces (Spec D T) tr ↔ InOrder T tr ∧ Respects D T tr := by
  rw [← allFollow_iff]
  constructor
  · rintro ⟨s, h⟩
    exact ((spec_run_iff D T [] tr s).mp h).1
  · intro h
    exact ⟨_, (spec_run_iff D T [] tr _).mpr ⟨h, rfl⟩⟩

/-- A machine all of whose traces are correct schedules can do at most what the specification machine does. -/
theorem spec_weakest (D : DepRel E Q) (T : List (Instance E Q)) (M : LTS (Event E Q))
    (hM : ∀ tr, Traces M tr → InOrder T tr ∧ Respects D T tr) :
    ∀ tr, Traces M tr → Traces (Spec D T) tr :=
  fun tr h => (spec_traces D T tr).mpr (hM tr h)

/-- Never earlier: issuing `c` while a counter is below `required` makes the schedule incorrect, whatever follows. -/
theorem too_early_incorrect (D : DepRel E Q) {T pre post : List (Instance E Q)} {c : Instance E Q} {q : Q}
    {x y : List (Event E Q)} (hT : T = pre ++ c :: post) (hn : turns c.engine pre = issued c.engine x)
    (hlt : completed q x < required D pre c q) : ¬ Respects D T (x ++ .issue c :: y) := by
  intro h
  have h' := h x c y rfl pre post hT hn
  have : required D pre c q ≤ completed q x := by
    rw [required, lastPosition_le_iff]
    intro a p b e hp hq
    exact h' a p b q e hq hp
  omega

/-! ## Bounds -/

/-- How far a trace can be. -/
theorem follow_bounds {D : DepRel E Q} {T : List (Instance E Q)} {tr : List (Event E Q)} (h : AllFollow D T [] tr) :
    (∀ q, completed q tr ≤ started q tr) ∧ ∀ e, issued e tr ≤ turns e T := by
  induction tr using snoc_induction with
  | nil => simp [completed, started, issued]
  | snoc l a ih =>
    obtain ⟨ih1, ih2⟩ := ih (allFollow_prefix h)
    have ha := h l a [] rfl
    cases a with
    | issue c =>
      obtain ⟨pre, post, hT, hn, _⟩ := ha
      refine ⟨fun q => ?_, fun e => ?_⟩
      · have := ih1 q
        simp [completed_append, started_append, completed, started]; omega
      · have := ih2 e
        simp [issued_append, issued] at hn ⊢
        by_cases hc : c.engine = e
        · subst hc
          have : turns c.engine T = turns c.engine pre + 1 + turns c.engine post := by
            rw [hT]; simp [turns_cons]; omega
          simp; omega
        · simp [hc]; omega
    | complete q' =>
      simp [MayFollow] at ha
      refine ⟨fun q => ?_, fun e => ?_⟩
      · have := ih1 q
        simp [completed_append, started_append, completed, started]
        by_cases hc : q' = q
        · subst hc; simp; omega
        · simp [hc]; omega
      · have := ih2 e
        simpa [issued_append, issued] using this

theorem take_succ_of_get {α : Type} {l : List α} {n : Nat} {x : α} (h : l[n]? = some x) :
    l.take (n + 1) = l.take n ++ [x] := by
  rw [List.take_add_one, h]; rfl

/-- What has started on a counter is what its host has issued for it. -/
theorem started_eq {D : DepRel E Q} {T : List (Instance E Q)} {host : Q → E} (hh : Hosted host T)
    {tr : List (Event E Q)} (h : AllFollow D T [] tr) (q : Q) :
    started q tr = signals q ((onEngine (host q) T).take (issued (host q) tr)) := by
  induction tr using snoc_induction with
  | nil => simp [started, issued]
  | snoc l a ih =>
    have ih := ih (allFollow_prefix h)
    have ha := h l a [] rfl
    cases a with
    | complete q' => simpa [started_append, issued_append, started, issued] using ih
    | issue c =>
      obtain ⟨pre, post, hT, hn, _⟩ := ha
      simp only [List.nil_append] at hn
      simp only [started_append, issued_append, started, issued, Nat.add_zero]
      by_cases hc : c.engine = host q
      · have hget : (onEngine (host q) T)[issued (host q) l]? = some c :=
          (onEngine_get_iff _ _ _ _).mpr ⟨pre, post, hT, hc, by rw [← hc]; exact hn⟩
        simp only [hc, if_true]
        rw [take_succ_of_get hget, signals_append, ← ih]
        simp [signals_cons]
      · have : c.counter ≠ some q := fun hq => hc (hh c (by rw [hT]; simp) q hq)
        simpa [hc, this] using ih

theorem onEngine_take_turns (e : E) (pre post : List (Instance E Q)) :
    (onEngine e (pre ++ post)).take (turns e pre) = onEngine e pre := by
  rw [onEngine_append, ← length_onEngine, List.take_left]

theorem signals_onEngine {host : Q → E} {T : List (Instance E Q)} (hh : Hosted host T) (q : Q) :
    signals q (onEngine (host q) T) = signals q T := by
  induction T with
  | nil => rfl
  | cons c t ih =>
    have ih := ih (fun x hx => hh x (by simp [hx]))
    rw [onEngine_cons]
    by_cases hc : c.engine = host q
    · simp [hc, signals_cons, ih]
    · have : c.counter ≠ some q := fun hq => hc (hh c (by simp) q hq)
      simp [hc, signals_cons, ih, this]

theorem hosted_append {host : Q → E} {a b : List (Instance E Q)} :
    Hosted host (a ++ b) ↔ Hosted host a ∧ Hosted host b := by
  simp only [Hosted, List.mem_append]
  exact ⟨fun h => ⟨fun c hc => h c (.inl hc), fun c hc => h c (.inr hc)⟩,
    fun h c hc => hc.elim (h.1 c) (h.2 c)⟩

theorem signals_take_mono (q : Q) (l : List (Instance E Q)) {n m : Nat} (h : n ≤ m) :
    signals q (l.take n) ≤ signals q (l.take m) := by
  have : l.take n = (l.take m).take n := by rw [List.take_take, Nat.min_eq_left h]
  rw [this]
  have := congrArg (signals q) (List.take_append_drop n (l.take m))
  rw [signals_append] at this
  omega

/-- Once an engine has passed a place, everything it hosts before that place has started. -/
theorem signals_le_started {D : DepRel E Q} {T pre post : List (Instance E Q)} {host : Q → E} (hh : Hosted host T)
    {tr : List (Event E Q)} (h : AllFollow D T [] tr) (hT : T = pre ++ post) (q : Q)
    (hn : turns (host q) pre ≤ issued (host q) tr) : signals q pre ≤ started q tr := by
  rw [started_eq hh h, ← signals_onEngine (hosted_append.mp (hT ▸ hh)).1, ← onEngine_take_turns _ pre post, ← hT]
  exact signals_take_mono _ _ hn

theorem started_le_signals {D : DepRel E Q} {T : List (Instance E Q)} {host : Q → E} (hh : Hosted host T)
    {tr : List (Event E Q)} (h : AllFollow D T [] tr) (q : Q) : started q tr ≤ signals q T := by
  rw [started_eq hh h, ← signals_onEngine hh]
  have := congrArg (signals q) (List.take_append_drop (issued (host q) tr) (onEngine (host q) T))
  rw [signals_append] at this
  omega

/-! ## Freedom from deadlock -/

theorem first_unissued (f : E → Nat) (pre l : List (Instance E Q)) (h : ∀ e, turns e pre ≤ f e) :
    (∀ e, turns e (pre ++ l) ≤ f e) ∨
      ∃ a c b, l = a ++ c :: b ∧ (∀ e, turns e (pre ++ a) ≤ f e) ∧ f c.engine = turns c.engine (pre ++ a) := by
  induction l generalizing pre with
  | nil => left; simpa using h
  | cons x t ih =>
    by_cases hx : f x.engine = turns x.engine pre
    · right; exact ⟨[], x, t, rfl, by simpa using h, by simpa using hx⟩
    · have h' : ∀ e, turns e (pre ++ [x]) ≤ f e := by
        intro e
        have := h e
        by_cases he : x.engine = e
        · subst he; simp [turns_cons]; omega
        · simp [turns_cons, he]; exact this
      rcases ih (pre ++ [x]) h' with h1 | ⟨a, c, b, h1, h2, h3⟩
      · left; simpa using h1
      · right; exact ⟨x :: a, c, b, by simp [h1], by simpa using h2, by simpa using h3⟩

/-- The specification machine never deadlocks: until everything is done, some event is possible. -/
theorem spec_live (D : DepRel E Q) (T : List (Instance E Q)) {host : Q → E} (hh : Hosted host T) :
    Live (Spec D T) (Done T) := by
  intro tr s hr hd
  obtain ⟨hok, hs⟩ := (spec_run_iff D T [] tr s).mp hr
  simp at hs
  subst hs
  obtain ⟨hb1, hb2⟩ := follow_bounds hok
  suffices h : ∃ a, MayFollow D T tr a by
    obtain ⟨a, ha⟩ := h
    exact ⟨a, _, .of_step ((specStep_counts D T tr a _).mpr ⟨ha, rfl⟩)⟩
  by_cases hc : ∃ q, completed q tr < started q tr
  · obtain ⟨q, hq⟩ := hc
    exact ⟨.complete q, hq⟩
  · have heq : ∀ q, completed q tr = started q tr := by
      intro q
      have := hb1 q
      have : ¬ completed q tr < started q tr := fun h => hc ⟨q, h⟩
      omega
    rcases first_unissued (fun e => issued e tr) [] T (by simp) with h | ⟨a, c, b, h1, h2, h3⟩
    · exfalso
      simp only [List.nil_append] at h
      refine hd ⟨fun e => Nat.le_antisymm (hb2 e) (h e), fun q => ?_⟩
      rw [heq]
      exact Nat.le_antisymm (started_le_signals hh hok q)
        (signals_le_started hh hok (post := []) (by simp) q (h _))
    · refine ⟨.issue c, a, b, h1, by simpa using h3.symm, ?_⟩
      intro u p v q hu _ hq
      have h4 := signals_le_started hh hok (pre := a) (post := c :: b) h1 q (by simpa using h2 _)
      rw [heq]
      rw [hu] at h4
      simp [signals_cons, hq] at h4
      omega

end Headway
end
