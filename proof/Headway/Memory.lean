module
public import Headway.Redundant
public import Headway.Scoreboard
@[expose] public noncomputable section

/-!
# Why it matters: every complete correct schedule computes what the sequential program computes

Instructions read their operands when they are issued, and their results become visible when they complete. If the dependence
relation covers the conflicts of the instructions (`Covers`), then

* `operands_sequential`: each instance of a correct schedule reads, when it is issued, exactly what it reads in the sequential execution;
* `schedule_sequential`: after a complete correct schedule the memory is the sequential one;
* `scoreboard_semantics`: from reads and writes to memory: every complete run of the synchronized program computes the sequential memory.

An instance that signals nothing can be seen by nobody, so `Covers` demands that what conflicts with anything later signals.
-/

set_option autoImplicit false

namespace Headway

variable {E Q L V : Type}

/-- Instructions as memory transformers: `effect c m l` is what instance `c` writes to location `l` when it reads the
memory `m`; `none` where it writes nothing. -/
structure Meaning (E Q L V : Type) where
  effect : Instance E Q → (L → V) → L → Option V
  reads : Instance E Q → L → Bool
  writes : Instance E Q → L → Bool
  depends_on_reads : ∀ c m m', (∀ l, reads c l = true → m l = m' l) → effect c m = effect c m'
  writes_only : ∀ c m l, writes c l = false → effect c m l = none

def store (u : L → Option V) (m : L → V) : L → V := fun l => (u l).getD (m l)

/-- The memory after a list of instances, one after the other. -/
def sequentialMemory (S : Meaning E Q L V) (m0 : L → V) (T : List (Instance E Q)) : L → V :=
  T.foldl (fun m c => store (S.effect c m) m) m0

variable [DecidableEq E] [DecidableEq Q]

/-- The state of a parallel execution; results wait in `results` until their counter signals. -/
structure Execution (Q L V : Type) where
  memory : L → V
  results : Q → Nat → L → Option V
  started : Q → Nat
  completed : Q → Nat

def executeEvent (S : Meaning E Q L V) (σ : Execution Q L V) : Event E Q → Execution Q L V
  | .issue c => { σ with
      results := fun q n => if c.counter = some q ∧ n = σ.started q then S.effect c σ.memory else σ.results q n
      started := start σ.started c.counter }
  | .complete q =>
    { σ with memory := store (σ.results q (σ.completed q)) σ.memory, completed := increment σ.completed q }

def execute (S : Meaning E Q L V) (m0 : L → V) (tr : List (Event E Q)) : Execution Q L V :=
  tr.foldl (executeEvent S) ⟨m0, fun _ _ _ => none, fun _ => 0, fun _ => 0⟩

/-- `D` contains every conflict, and what conflicts with anything later signals its completion. -/
def Covers (S : Meaning E Q L V) (D : DepRel E Q) : Prop :=
  ∀ p c l, (S.writes p l = true ∧ S.reads c l = true) ∨ (S.reads p l = true ∧ S.writes c l = true) ∨
    (S.writes p l = true ∧ S.writes c l = true) → D p c = true ∧ p.counter.isSome = true

/-! ## Replaying the completed instances in sequential order -/

theorem sequentialMemory_snoc (S : Meaning E Q L V) (m0 : L → V) (T : List (Instance E Q)) (c : Instance E Q) :
    sequentialMemory S m0 (T ++ [c]) = store (S.effect c (sequentialMemory S m0 T)) (sequentialMemory S m0 T) := by
  simp [sequentialMemory, List.foldl_append]

/-- With `k` signals per counter, the instance `c` after `pre` has completed. -/
def completedBy (k : Q → Nat) (pre : List (Instance E Q)) (c : Instance E Q) : Bool :=
  match c.counter with
  | some q => decide (signals q pre < k q)
  | none => false

theorem completedBy_some {k : Q → Nat} {pre : List (Instance E Q)} {c : Instance E Q} {q : Q}
    (h : c.counter = some q) : completedBy k pre c = true ↔ signals q pre < k q := by
  simp [completedBy, h]

/-- The value of `l` after the completed instances only, in sequential order. -/
def replay (S : Meaning E Q L V) (m0 : L → V) (k : Q → Nat) (l : L) :
    List (Instance E Q) → List (Instance E Q) → V → V
  | _, [], v => v
  | pre, c :: t, v => replay S m0 k l (pre ++ [c]) t
      (if completedBy k pre c = true then (S.effect c (sequentialMemory S m0 pre) l).getD v else v)

theorem replay_append (S : Meaning E Q L V) (m0 : L → V) (k : Q → Nat) (l : L) (a b pre : List (Instance E Q))
    (v : V) : replay S m0 k l pre (a ++ b) v = replay S m0 k l (pre ++ a) b (replay S m0 k l pre a v) := by
  induction a generalizing pre v with
  | nil => simp [replay]
  | cons c t ih => simp [replay, ih]

theorem replay_none (S : Meaning E Q L V) (m0 : L → V) (k : Q → Nat) (l : L) (t pre : List (Instance E Q)) (v : V)
    (h : ∀ a c b, t = a ++ c :: b → S.writes c l = true → ¬ completedBy k (pre ++ a) c = true) :
    replay S m0 k l pre t v = v := by
  induction t generalizing pre v with
  | nil => rfl
  | cons c t ih =>
    rw [replay, ih]
    · split
      · rename_i hc
        cases hw : S.writes c l with
        | false => simp [S.writes_only c _ l hw]
        | true => exact absurd hc (by simpa using h [] c t rfl hw)
      · rfl
    · intro a x b e hx
      have := h (c :: a) x b (by simp [e]) hx
      simpa using this

theorem replay_all (S : Meaning E Q L V) (m0 : L → V) (k : Q → Nat) (l : L) (t pre : List (Instance E Q))
    (h : ∀ a c b, t = a ++ c :: b → S.writes c l = true → completedBy k (pre ++ a) c = true) :
    replay S m0 k l pre t (sequentialMemory S m0 pre l) = sequentialMemory S m0 (pre ++ t) l := by
  induction t generalizing pre with
  | nil => simp [replay]
  | cons c t ih =>
    have hv : (if completedBy k pre c = true then
          (S.effect c (sequentialMemory S m0 pre) l).getD (sequentialMemory S m0 pre l)
        else sequentialMemory S m0 pre l) = sequentialMemory S m0 (pre ++ [c]) l := by
      rw [sequentialMemory_snoc]
      simp only [store]
      split
      · rfl
      · rename_i hc
        cases hw : S.writes c l with
        | false => simp [S.writes_only c _ l hw]
        | true => exact absurd (by simpa using h [] c t rfl hw) hc
    rw [replay, hv, ih]
    · simp
    · intro a x b e hx
      have := h (c :: a) x b (by simp [e]) hx
      simpa using this

theorem replay_congr (S : Meaning E Q L V) (m0 : L → V) (k k' : Q → Nat) (l : L) (t pre : List (Instance E Q)) (v : V)
    (h : ∀ a c b, t = a ++ c :: b → completedBy k (pre ++ a) c = completedBy k' (pre ++ a) c) :
    replay S m0 k l pre t v = replay S m0 k' l pre t v := by
  induction t generalizing pre v with
  | nil => rfl
  | cons c t ih =>
    have h0 : completedBy k pre c = completedBy k' pre c := by simpa using h [] c t rfl
    simp only [replay, h0]
    apply ih
    intro a x b e
    have := h (c :: a) x b (by simp [e])
    simpa using this

/-! ## Where instances are in a trace -/

variable {host : Q → E}

/-- What has started has been issued. -/
theorem issued_of_started {D : DepRel E Q} {T pre post : List (Instance E Q)} {p : Instance E Q} {q : Q}
    (hh : Hosted host T) {x : List (Event E Q)} (hx : AllFollow D T [] x) (hT : T = pre ++ p :: post)
    (hp : p.counter = some q) (h : signals q pre < started q x) : turns p.engine pre < issued p.engine x := by
  have he : p.engine = host q := hh p (by rw [hT]; simp) q hp
  rw [he]
  by_cases hlt : turns (host q) pre < issued (host q) x
  · exact hlt
  · have h1 := started_eq hh hx q
    have h2 := signals_take_mono q (onEngine (host q) T) (Nat.le_of_not_lt hlt)
    rw [hT, onEngine_take_turns, signals_onEngine (hosted_append.mp (hT ▸ hh)).1, ← hT] at h2
    omega

/-- When an engine stands at a place, exactly what it hosts before that place has started. -/
theorem started_at {D : DepRel E Q} {T pre post : List (Instance E Q)} (hh : Hosted host T) {x : List (Event E Q)}
    (hx : AllFollow D T [] x) (hT : T = pre ++ post) (q : Q) (hn : turns (host q) pre = issued (host q) x) :
    started q x = signals q pre := by
  rw [started_eq hh hx, ← hn, hT, onEngine_take_turns, signals_onEngine (hosted_append.mp (hT ▸ hh)).1]

theorem split_at_signal (q : Q) (T : List (Instance E Q)) (n : Nat) (h : n < signals q T) :
    ∃ pre c post, T = pre ++ c :: post ∧ c.counter = some q ∧ signals q pre = n := by
  induction T generalizing n with
  | nil => simp at h
  | cons x t ih =>
    rw [signals_cons] at h
    by_cases hx : x.counter = some q
    · simp only [hx, if_true] at h
      cases n with
      | zero => exact ⟨[], x, t, rfl, hx, rfl⟩
      | succ n =>
        obtain ⟨pre, c, post, h1, h2, h3⟩ := ih n (by omega)
        exact ⟨x :: pre, c, post, by simp [h1], h2, by simp [signals_cons, hx, h3]⟩
    · simp only [hx, if_false] at h
      obtain ⟨pre, c, post, h1, h2, h3⟩ := ih n (by omega)
      exact ⟨x :: pre, c, post, by simp [h1], h2, by simp [signals_cons, hx, h3]⟩

/-- In a correct schedule, once a later dependent instance has issued, the earlier one has completed. -/
theorem dependence_completed {D : DepRel E Q} {T pre mid post : List (Instance E Q)} {c p : Instance E Q} {q : Q}
    (hT : T = pre ++ c :: (mid ++ p :: post)) (hD : D c p = true) (hq : c.counter = some q) (x : List (Event E Q)) :
    AllFollow D T [] x → turns p.engine (pre ++ c :: mid) < issued p.engine x → signals q pre < completed q x := by
  induction x using snoc_induction with
  | nil => intro _ h; simp [issued] at h
  | snoc x a ih =>
    intro hok h
    by_cases hx : turns p.engine (pre ++ c :: mid) < issued p.engine x
    · exact Nat.lt_of_lt_of_le (ih (allFollow_prefix hok) hx) (completed_mono _ _ _)
    · have ha := hok x a [] rfl
      rw [issued_append] at h
      cases a with
      | complete e => simp only [issued, Nat.add_zero] at h; exact absurd h hx
      | issue c' =>
        simp only [issued] at h
        split at h
        · rename_i he
          obtain ⟨pre', post', hT', hn', hd⟩ := ha
          have hT2 : T = (pre ++ c :: mid) ++ p :: post := by rw [hT]; simp
          simp only [List.nil_append] at hn' hd
          have hu := split_unique hT' hT2 he rfl (by rw [he] at hn'; omega)
          obtain ⟨h1, h2, _⟩ := hu
          have := hd pre c mid q h1 (by rw [h2]; exact hD) hq
          exact Nat.lt_of_lt_of_le (by omega) (completed_mono _ _ _)
        · omega

/-! ## The invariant -/

structure MemoryInvariant (S : Meaning E Q L V) (m0 : L → V) (T : List (Instance E Q)) (x : List (Event E Q))
    (σ : Execution Q L V) : Prop where
  started : ∀ q, σ.started q = started q x
  completed : ∀ q, σ.completed q = completed q x
  memory : ∀ l, σ.memory l = replay S m0 (fun q => Headway.completed q x) l [] T (m0 l)
  results : ∀ pre c post q, T = pre ++ c :: post → c.counter = some q → turns c.engine pre < issued c.engine x →
    σ.results q (signals q pre) = S.effect c (sequentialMemory S m0 pre)

/-- A completed instance has been issued. -/
theorem issued_of_completedBy {D : DepRel E Q} {T pre post : List (Instance E Q)} {p : Instance E Q}
    (hh : Hosted host T) {x : List (Event E Q)} (hx : AllFollow D T [] x) (hT : T = pre ++ p :: post)
    (h : completedBy (fun q => completed q x) pre p = true) : turns p.engine pre < issued p.engine x := by
  cases hp : p.counter with
  | none => simp [completedBy, hp] at h
  | some q =>
    rw [completedBy_some hp] at h
    exact issued_of_started hh hx hT hp (Nat.lt_of_lt_of_le h ((follow_bounds hx).1 q))

/-- When `c` may issue, the locations that it reads hold the sequential values. -/
theorem operands_at_issue (S : Meaning E Q L V) (m0 : L → V) {D : DepRel E Q} (hD : Covers S D)
    {T pre post : List (Instance E Q)} {c : Instance E Q} (hh : Hosted host T) {x : List (Event E Q)}
    (hx : AllFollow D T [] x) {σ : Execution Q L V} (hi : MemoryInvariant S m0 T x σ) (hT : T = pre ++ c :: post)
    (hn : turns c.engine pre = issued c.engine x)
    (hd : ∀ a p b q, pre = a ++ p :: b → D p c = true → p.counter = some q → signals q a + 1 ≤ completed q x)
    (l : L) (hl : S.reads c l = true) : σ.memory l = sequentialMemory S m0 pre l := by
  rw [hi.memory, hT, replay_append, List.nil_append, replay_none]
  · have := replay_all S m0 (fun q => completed q x) l pre [] (by
      intro a p b e hw
      obtain ⟨h1, h2⟩ := hD p c l (.inl ⟨hw, hl⟩)
      obtain ⟨q, hq⟩ := Option.isSome_iff_exists.mp h2
      rw [List.nil_append, completedBy_some hq]
      exact hd a p b q e h1 hq)
    simpa [sequentialMemory] using this
  · intro a p b e hw hlt
    cases a with
    | nil =>
      simp at e
      obtain ⟨rfl, _⟩ := e
      have := issued_of_completedBy hh hx (pre := pre) (post := post) hT (by simpa using hlt)
      omega
    | cons y mid =>
      simp at e
      obtain ⟨rfl, e⟩ := e
      have hTp : T = (pre ++ c :: mid) ++ p :: b := by rw [hT, e]; simp
      have h1 := issued_of_completedBy hh hx hTp hlt
      obtain ⟨h2, h3⟩ := hD c p l (.inr (.inl ⟨hl, hw⟩))
      obtain ⟨q, hq⟩ := Option.isSome_iff_exists.mp h3
      have h4 := dependence_completed (D := D) (mid := mid) (post := b) (p := p) (by rw [hT, e]) h2 hq x hx h1
      have h5 := issued_of_started hh hx hT hq (Nat.lt_of_lt_of_le h4 ((follow_bounds hx).1 q))
      omega

theorem memory_invariant (S : Meaning E Q L V) (m0 : L → V) {D : DepRel E Q} (hD : Covers S D)
    (T : List (Instance E Q)) (hh : Hosted host T) (x : List (Event E Q)) :
    AllFollow D T [] x → MemoryInvariant S m0 T x (execute S m0 x) := by
  induction x using snoc_induction with
  | nil =>
    intro _
    refine ⟨fun _ => rfl, fun _ => rfl, fun l => ?_, fun pre c post q _ _ h => by simp [issued] at h⟩
    rw [replay_none]
    · rfl
    · intro a c b _ _; simp only [completedBy]; split <;> simp [completed]
  | snoc x a ih =>
    intro hok
    have hx := allFollow_prefix hok
    have hb := (follow_bounds hx).1
    have hi := ih hx
    have hrun : execute S m0 (x ++ [a]) = executeEvent S (execute S m0 x) a := by simp [execute, List.foldl_append]
    rw [hrun]
    generalize execute S m0 x = σ at *
    have ha := hok x a [] rfl
    simp only [List.nil_append] at ha
    cases a with
    | issue c =>
      obtain ⟨pre, post, hT, hn, hd⟩ := ha
      refine ⟨fun q => ?_, fun q => ?_, fun l => ?_, fun pre' c' post' q hT' hq hlt => ?_⟩
      · simp [executeEvent, start_apply, started_append, started, hi.started]
      · simp [executeEvent, completed_append, completed, hi.completed]
      · simpa [executeEvent, completed_append, completed] using hi.memory l
      · simp only [executeEvent, hi.started]
        have he' : c'.engine = host q := hh c' (by rw [hT']; simp) q hq
        by_cases hnew : turns c'.engine pre' < issued c'.engine x
        · -- `c'` was issued before: its result is not overwritten
          rw [if_neg]
          · exact hi.results pre' c' post' q hT' hq hnew
          · rintro ⟨hc, hs⟩
            have h1 := signals_le_started hh hx (pre := pre' ++ [c']) (post := post') (by simp [hT']) q (by
              rw [he'] at hnew; simp [turns_cons, he']; omega)
            simp [signals_cons, hq] at h1
            omega
        · -- `c'` is the instance that has just been issued
          rw [issued_append] at hlt
          simp only [issued, Nat.add_zero] at hlt
          have he : c.engine = c'.engine := by
            by_cases he : c.engine = c'.engine
            · exact he
            · simp only [he, if_false] at hlt; omega
          simp only [he, if_true] at hlt
          have hu := split_unique hT' hT rfl he (by rw [← he, hn, he]; omega)
          obtain ⟨rfl, rfl, _⟩ := hu
          rw [if_pos ⟨hq, (started_at hh hx hT q (by rw [← he']; exact hn)).symm⟩]
          apply S.depends_on_reads
          intro l hl
          exact operands_at_issue S m0 hD hh hx hi hT hn hd l hl
    | complete q =>
      simp only [MayFollow] at ha
      obtain ⟨pre, c, post, hT, hq, hn⟩ := split_at_signal q T (completed q x)
        (Nat.lt_of_lt_of_le ha (started_le_signals hh hx q))
      have hres := hi.results pre c post q hT hq (issued_of_started hh hx hT hq (by omega))
      have hcmp : ∀ q', completed q' (x ++ [.complete q]) = completed q' x + (if q = q' then 1 else 0) := by
        intro q'; simp [completed_append, completed]
      refine ⟨fun q' => ?_, fun q' => ?_, fun l => ?_, fun pre' c' post' q' hT' hq' hlt => ?_⟩
      · simp [executeEvent, started_append, started, hi.started]
      · simp only [executeEvent, increment_apply, hcmp, hi.completed]
      · simp only [executeEvent, store, hi.completed, ← hn, hres, hi.memory, hcmp]
        have hbefore : ∀ v, replay S m0 (fun q' => completed q' x + (if q = q' then 1 else 0)) l [] pre v
            = replay S m0 (fun q' => completed q' x) l [] pre v := by
          intro v
          apply replay_congr
          intro a p b e
          simp only [completedBy]
          split
          · rename_i p' hp'
            by_cases hp : q = p'
            · subst hp
              have : signals q a < signals q pre := by rw [e]; simp [signals_cons, hp']
              rw [decide_eq_decide]; simp; omega
            · simp [hp]
          · rfl
        have hafter : ∀ a p b, post = a ++ p :: b → S.writes c l = true → S.writes p l = true →
            ¬ completedBy (fun q' => completed q' x + (if q = q' then 1 else 0)) (pre ++ [c] ++ a) p = true := by
          intro a p b e hcw hpw hlt
          obtain ⟨h1, _⟩ := hD c p l (.inr (.inr ⟨hcw, hpw⟩))
          have hTp : T = (pre ++ c :: a) ++ p :: b := by rw [hT, e]; simp
          have hdone : ¬ turns p.engine (pre ++ c :: a) < issued p.engine x := by
            intro h
            have := dependence_completed (D := D) (mid := a) (post := b) (p := p) (by rw [hT, e]) h1 hq x hx h
            omega
          cases hp : p.counter with
          | none => simp [completedBy, hp] at hlt
          | some p' =>
            rw [completedBy_some hp] at hlt
            by_cases hpq : q = p'
            · subst hpq
              simp [signals_cons, hq] at hlt
              omega
            · simp only [hpq, if_false] at hlt
              exact hdone (issued_of_started hh hx hTp hp (Nat.lt_of_lt_of_le (by simpa using hlt) (hb p')))
        rw [hT, replay_append, replay_append]
        simp only [List.nil_append, replay, hbefore]
        have hc1 : ¬ completedBy (fun q' => completed q' x) pre c = true := by
          rw [completedBy_some hq]; omega
        have hc2 : completedBy (fun q' => completed q' x + (if q = q' then 1 else 0)) pre c = true := by
          rw [completedBy_some hq]; simp; omega
        rw [if_neg hc1, if_pos hc2]
        cases hw : S.writes c l with
        | false =>
          simp only [S.writes_only c _ l hw, Option.getD_none]
          apply replay_congr
          intro a p b e
          simp only [completedBy]
          split
          · rename_i p' hp'
            by_cases hp : q = p'
            · subst hp
              rw [decide_eq_decide]; simp [signals_cons, hq]; omega
            · simp [hp]
          · rfl
        | true =>
          rw [replay_none S m0 (fun q' => completed q' x) l post (pre ++ [c]) _ (fun a p b e hpw hlt => by
              refine hafter a p b e hw hpw ?_
              cases hp : p.counter with
              | none => simp [completedBy, hp] at hlt
              | some p' =>
                rw [completedBy_some hp] at hlt ⊢
                exact Nat.lt_of_lt_of_le hlt (Nat.le_add_right _ _)),
            replay_none S m0 (fun q' => completed q' x + (if q = q' then 1 else 0)) l post (pre ++ [c]) _
              (fun a p b e hpw => hafter a p b e hw hpw)]
      · simp only [executeEvent]
        refine hi.results pre' c' post' q' hT' hq' ?_
        simpa [issued_append, issued] using hlt

/-! ## The theorems -/

/-- In a correct schedule each instance reads, when it is issued, what it reads in the sequential execution. -/
theorem operands_sequential (S : Meaning E Q L V) (m0 : L → V) {D : DepRel E Q} (hD : Covers S D)
    {T : List (Instance E Q)} (hh : Hosted host T) {x y : List (Event E Q)} {c : Instance E Q}
    (h : InOrder T (x ++ .issue c :: y) ∧ Respects D T (x ++ .issue c :: y)) :
    ∃ pre post, T = pre ++ c :: post ∧ turns c.engine pre = issued c.engine x ∧
      ∀ l, S.reads c l = true → (execute S m0 x).memory l = sequentialMemory S m0 pre l := by
  have hok := (allFollow_iff D T _).mpr h
  have hx := allFollow_prefix hok
  obtain ⟨pre, post, hT, hn, hd⟩ := hok x _ y rfl
  simp only [List.nil_append] at hn hd
  exact ⟨pre, post, hT, hn,
    operands_at_issue S m0 hD hh hx (memory_invariant S m0 hD T hh x hx) hT hn hd⟩

/-- A complete correct schedule computes exactly the memory of the sequential execution. -/
theorem schedule_sequential (S : Meaning E Q L V) (m0 : L → V) {D : DepRel E Q} (hD : Covers S D)
    (T : List (Instance E Q)) (hh : Hosted host T) (tr : List (Event E Q)) (h : InOrder T tr ∧ Respects D T tr)
    (hdone : Done T tr) : (execute S m0 tr).memory = sequentialMemory S m0 T := by
  have hok := (allFollow_iff D T tr).mpr h
  funext l
  rw [(memory_invariant S m0 hD T hh tr hok).memory l]
  have := replay_all S m0 (fun q => completed q tr) l T [] (by
    intro a c b e hw
    obtain ⟨_, h2⟩ := hD c c l (.inr (.inr ⟨hw, hw⟩))
    obtain ⟨q, hq⟩ := Option.isSome_iff_exists.mp h2
    rw [List.nil_append, completedBy_some hq, hdone.2 q, e]
    simp [signals_cons, hq])
  simpa [sequentialMemory] using this

/-- An access table describes the instructions: what they read and write is in it, and what writes, signals, and what is
read and written later signals too. -/
structure Describes (A : Accesses) (S : Meaning E Q (Nat × Nat) V) : Prop where
  reads : ∀ c l, S.reads c l = (cells (A.reads c.instr) c.iteration).contains l
  writes : ∀ c l, S.writes c l = (cells (A.writes c.instr) c.iteration).contains l
  signals : ∀ c l, S.reads c l = true ∨ S.writes c l = true → c.counter.isSome = true

theorem describes_covers {A : Accesses} {S : Meaning E Q (Nat × Nat) V} (h : Describes A S) :
    Covers S A.depends := by
  intro p c l hc
  have hs : p.counter.isSome = true := by
    rcases hc with ⟨h1, _⟩ | ⟨h1, _⟩ | ⟨h1, _⟩
    · exact h.signals p l (.inr h1)
    · exact h.signals p l (.inl h1)
    · exact h.signals p l (.inr h1)
  refine ⟨?_, hs⟩
  simp only [h.reads, h.writes, List.contains_iff_mem] at hc
  simp only [Accesses.depends, Accesses.conflict, hs, Bool.true_and, Bool.or_eq_true, List.any_eq_true,
    List.contains_iff_mem]
  rcases hc with ⟨h1, h2⟩ | ⟨h1, h2⟩ | ⟨h1, h2⟩
  · exact .inl ⟨l, h1, .inl h2⟩
  · exact .inr ⟨l, h1, h2⟩
  · exact .inl ⟨l, h1, .inr h2⟩

/-- From reads and writes to memory: whatever the timing of engines and queues and whatever the control values, every
complete run of the synchronized program computes the sequential memory. -/
theorem scoreboard_semantics (A : Accesses) (whole : Nat → Bool) (hw : A.WholeValid whole)
    (S : Meaning E Q (Nat × Nat) V) (hA : Describes A S) (m0 : Nat × Nat → V) (P : Program E Q) (ω : Control)
    (hh : Hosted host (unroll ω P [])) (tr : List (Event E Q))
    (h : Traces (Machine ω (synchronized (scoreboard A whole P) P)) tr) (hdone : Done (unroll ω P []) tr) :
    (execute S m0 tr).memory = sequentialMemory S m0 (unroll ω P []) := by
  obtain ⟨h1, h2⟩ := (synchronized_traces _ (scoreboard_valid A whole P hw) ω P hh tr).mp h
  exact schedule_sequential S m0 (describes_covers hA) _ hh tr
    ⟨h1, (scoreboard_respects A whole P ω tr).mp h2⟩ hdone

end Headway
end
