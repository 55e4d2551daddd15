module
@[expose] public noncomputable section

/-!
# Programs, their sequential reference, and what an instance requires

* `Program`: structured programs with branches and loops in any nesting, over engines `E` and counters `Q`.
* `unroll`: the sequential reference, a list of instances.
* `required D before c q`: the largest position, among the signals of `q`, of an instance that `c` depends on.

Both types are arbitrary: every theorem of the development holds for any number of engines and queues.
-/

set_option autoImplicit false

namespace Headway

/-- One dynamic execution of an instruction. It is issued by an engine; when it completes it signals a counter (its
engine's own, or the one of a DMA queue that the engine hosts), or nothing at all. -/
structure Instance (E Q : Type) where
  instr : Nat
  engine : E
  counter : Option Q
  /-- Iteration numbers of the enclosing loops, innermost first. -/
  iteration : List Nat
deriving DecidableEq, Repr

/-- Structured programs. `branch` and `loop` are control sites: which branch is taken and how many iterations run is
known only at run time. -/
inductive Program (E Q : Type) where
  | skip
  | instr (i : Nat) (e : E) (q : Option Q)
  | seq (a b : Program E Q)
  | branch (site : Nat) (a b : Program E Q)
  | loop (site : Nat) (body : Program E Q)
deriving Repr

/-- The control values of one run: site, iterations of the enclosing loops ↦ trip count (for a branch: 0 = second). -/
abbrev Control := Nat → List Nat → Nat

/-- `iterate f n j = f j ++ f (j+1) ++ …`, `n` terms. -/
def iterate {α : Type} (f : Nat → List α) : Nat → Nat → List α
  | 0, _ => []
  | n + 1, j => f j ++ iterate f n (j + 1)

variable {E Q : Type}

/-- The sequential reference: every instance of the program in sequential order. -/
def unroll (ω : Control) : Program E Q → List Nat → List (Instance E Q)
  | .skip, _ => []
  | .instr i e q, v => [⟨i, e, q, v⟩]
  | .seq a b, v => unroll ω a v ++ unroll ω b v
  | .branch k a b, v => if ω k v = 0 then unroll ω b v else unroll ω a v
  | .loop k s, v => iterate (fun j => unroll ω s (j :: v)) (ω k v) 0

/-- A dependence relation: `D p c` says that `c`, if it comes after `p` in sequential order, must not issue before
`p` has completed. -/
abbrev DepRel (E Q : Type) := Instance E Q → Instance E Q → Bool

/-- Every counter is signalled from one engine only, its host. -/
def Hosted (host : Q → E) (T : List (Instance E Q)) : Prop :=
  ∀ c ∈ T, ∀ q, c.counter = some q → c.engine = host q

/-- The instances that engine `e` issues, in order. -/
def onEngine [DecidableEq E] (e : E) (l : List (Instance E Q)) : List (Instance E Q) :=
  l.filter (fun p => decide (p.engine = e))

/-- How many instances engine `e` issues. -/
def turns [DecidableEq E] (e : E) (l : List (Instance E Q)) : Nat := l.countP (fun p => decide (p.engine = e))

/-- How many instances signal counter `q`. The position of `p` in `a ++ p :: b` is `signals q a + 1`. -/
def signals [DecidableEq Q] (q : Q) (l : List (Instance E Q)) : Nat :=
  l.countP (fun p => decide (p.counter = some q))

/-- Scan for the last match; `n` signals of `q` seen so far, the last match had position `m`. -/
def lastPositionFrom [DecidableEq Q] (q : Q) (match? : Instance E Q → Bool) : List (Instance E Q) → Nat → Nat → Nat
  | [], _, m => m
  | p :: t, n, m =>
    if p.counter = some q then
      (if match? p then lastPositionFrom q match? t (n + 1) (n + 1) else lastPositionFrom q match? t (n + 1) m)
    else lastPositionFrom q match? t n m

/-- Position of the last instance that signals `q` and matches; 0 if there is none. -/
def lastPosition [DecidableEq Q] (q : Q) (match? : Instance E Q → Bool) (l : List (Instance E Q)) : Nat :=
  lastPositionFrom q match? l 0 0

/-- What `c` requires of counter `q`, when `before` is everything sequentially before it. -/
def required [DecidableEq Q] (D : DepRel E Q) (before : List (Instance E Q)) (c : Instance E Q) (q : Q) : Nat :=
  lastPosition q (fun p => D p c) before

/-! ## Function update -/

def update {α β : Type} [DecidableEq α] (f : α → β) (a : α) (b : β) : α → β :=
  fun x => if x = a then b else f x

section update
variable {α β : Type} [DecidableEq α]
@[simp] theorem update_same (f : α → β) (a : α) (b : β) : update f a b a = b := by simp [update]
theorem update_ne (f : α → β) {a x : α} (b : β) (h : x ≠ a) : update f a b x = f x := by simp [update, h]
theorem update_apply (f : α → β) (a x : α) (b : β) : update f a b x = if x = a then b else f x := rfl
end update

/-- Add one at `a`. -/
def increment {α : Type} [DecidableEq α] (f : α → Nat) (a : α) : α → Nat := update f a (f a + 1)

theorem increment_apply {α : Type} [DecidableEq α] (f : α → Nat) (a x : α) :
    increment f a x = f x + (if a = x then 1 else 0) := by
  simp only [increment, update_apply]
  by_cases h : x = a
  · subst h; simp
  · simp [h, Ne.symm h]

theorem le_increment {α : Type} [DecidableEq α] (f : α → Nat) (a x : α) : f x ≤ increment f a x := by
  rw [increment_apply]; omega

/-! ## Lists from the right -/

/-- Induction on a list from the right: what every proof below follows is the prefix already passed. -/
theorem snoc_induction {α : Type} {P : List α → Prop} (nil : P []) (snoc : ∀ l a, P l → P (l ++ [a])) :
    ∀ l, P l := by
  intro l
  have : ∀ r : List α, P r.reverse := by
    intro r
    induction r with
    | nil => simpa using nil
    | cons a t ih => simpa using snoc _ a ih
  simpa using this l.reverse

theorem append_cons_eq_snoc {α : Type} {a b l : List α} {p x : α} (h : a ++ p :: b = l ++ [x]) :
    (b = [] ∧ a = l ∧ p = x) ∨ ∃ b', b = b' ++ [x] ∧ a ++ p :: b' = l := by
  induction b using snoc_induction with
  | nil =>
    have := List.append_inj' h (by simp)
    simp_all
  | snoc b' y _ =>
    right
    have h' : (a ++ p :: b') ++ [y] = l ++ [x] := by simpa using h
    have := List.append_inj' h' (by simp)
    simp_all

theorem mem_iterate {α : Type} (f : Nat → List α) (x : α) (n j : Nat) (h : x ∈ iterate f n j) :
    ∃ i, x ∈ f i := by
  induction n generalizing j with
  | zero => simp [iterate] at h
  | succ n ih =>
    simp only [iterate, List.mem_append] at h
    rcases h with h | h
    · exact ⟨j, h⟩
    · exact ih _ h

/-! ## Counting -/

section engine
variable [DecidableEq E]

@[simp] theorem turns_nil (e : E) : turns e ([] : List (Instance E Q)) = 0 := rfl
@[simp] theorem turns_append (e : E) (l m : List (Instance E Q)) : turns e (l ++ m) = turns e l + turns e m := by
  simp [turns, List.countP_append]
theorem turns_cons (e : E) (p : Instance E Q) (l : List (Instance E Q)) :
    turns e (p :: l) = turns e l + (if p.engine = e then 1 else 0) := by
  simp [turns, List.countP_cons]

theorem onEngine_append (e : E) (l m : List (Instance E Q)) : onEngine e (l ++ m) = onEngine e l ++ onEngine e m := by
  simp [onEngine]
theorem onEngine_cons (e : E) (p : Instance E Q) (l : List (Instance E Q)) :
    onEngine e (p :: l) = if p.engine = e then p :: onEngine e l else onEngine e l := by
  simp [onEngine, List.filter_cons]
theorem length_onEngine (e : E) (l : List (Instance E Q)) : (onEngine e l).length = turns e l := by
  simp [onEngine, turns, List.countP_eq_length_filter]

/-- The `n`-th instance of an engine, as a split of the sequential reference. -/
theorem onEngine_get_iff (e : E) (T : List (Instance E Q)) (n : Nat) (c : Instance E Q) :
    (onEngine e T)[n]? = some c ↔ ∃ pre post, T = pre ++ c :: post ∧ c.engine = e ∧ turns e pre = n := by
  induction T generalizing n with
  | nil => simp [onEngine]
  | cons x t ih =>
    rw [onEngine_cons]
    constructor
    · intro h
      split at h
      · rename_i hx
        cases n with
        | zero => simp at h; subst h; exact ⟨[], t, rfl, hx, rfl⟩
        | succ n =>
          simp at h
          obtain ⟨pre, post, h1, h2, h3⟩ := (ih n).mp h
          exact ⟨x :: pre, post, by simp [h1], h2, by simp [turns_cons, hx, h3]⟩
      · rename_i hx
        obtain ⟨pre, post, h1, h2, h3⟩ := (ih n).mp h
        exact ⟨x :: pre, post, by simp [h1], h2, by simp [turns_cons, hx, h3]⟩
    · rintro ⟨pre, post, h1, h2, h3⟩
      cases pre with
      | nil =>
        simp at h1
        obtain ⟨rfl, rfl⟩ := h1
        simp at h3
        simp [h2, ← h3]
      | cons y pre =>
        simp at h1
        obtain ⟨rfl, h1⟩ := h1
        rw [turns_cons] at h3
        split
        · rename_i hx
          simp [hx] at h3
          subst h3
          simpa using (ih _).mpr ⟨pre, post, h1, h2, rfl⟩
        · rename_i hx
          simp [hx] at h3
          exact (ih _).mpr ⟨pre, post, h1, h2, h3⟩

/-- An engine and a number of turns name one place of the sequential reference. -/
theorem split_unique {e : E} {T pre post pre' post' : List (Instance E Q)} {c c' : Instance E Q}
    (h : T = pre ++ c :: post) (h' : T = pre' ++ c' :: post') (hc : c.engine = e) (hc' : c'.engine = e)
    (hn : turns e pre = turns e pre') : pre = pre' ∧ c = c' ∧ post = post' := by
  induction pre generalizing T pre' with
  | nil =>
    cases pre' with
    | nil => simp [h] at h'; simp [h']
    | cons y t =>
      rw [h] at h'; simp at h'
      simp [turns_cons, ← h'.1, hc] at hn
  | cons x t ih =>
    cases pre' with
    | nil =>
      rw [h] at h'; simp at h'
      simp [turns_cons, h'.1, hc'] at hn
    | cons y t' =>
      rw [h] at h'; simp at h'
      obtain ⟨rfl, h'⟩ := h'
      have := ih rfl h' (by simpa [turns_cons] using hn)
      simp [this]

end engine

variable [DecidableEq Q]

@[simp] theorem signals_nil (q : Q) : signals q ([] : List (Instance E Q)) = 0 := rfl
@[simp] theorem signals_append (q : Q) (l m : List (Instance E Q)) :
    signals q (l ++ m) = signals q l + signals q m := by
  simp [signals, List.countP_append]
theorem signals_cons (q : Q) (p : Instance E Q) (l : List (Instance E Q)) :
    signals q (p :: l) = signals q l + (if p.counter = some q then 1 else 0) := by
  simp [signals, List.countP_cons]

/-- A counter and a number of signals name one place of the sequential reference. -/
theorem split_unique_counter {q : Q} {T pre post pre' post' : List (Instance E Q)} {c c' : Instance E Q}
    (h : T = pre ++ c :: post) (h' : T = pre' ++ c' :: post') (hc : c.counter = some q) (hc' : c'.counter = some q)
    (hn : signals q pre = signals q pre') : pre = pre' ∧ c = c' ∧ post = post' := by
  induction pre generalizing T pre' with
  | nil =>
    cases pre' with
    | nil => simp [h] at h'; simp [h']
    | cons y t =>
      rw [h] at h'; simp at h'
      simp [signals_cons, ← h'.1, hc] at hn
  | cons x t ih =>
    cases pre' with
    | nil =>
      rw [h] at h'; simp at h'
      simp [signals_cons, h'.1, hc'] at hn
    | cons y t' =>
      rw [h] at h'; simp at h'
      obtain ⟨rfl, h'⟩ := h'
      have := ih rfl h' (by simpa [signals_cons] using hn)
      simp [this]

/-! ## The last position -/

@[simp] theorem lastPosition_nil (q : Q) (m : Instance E Q → Bool) : lastPosition q m [] = 0 := rfl

theorem lastPositionFrom_snoc (q : Q) (f : Instance E Q → Bool) (l : List (Instance E Q)) (p : Instance E Q)
    (n m : Nat) : lastPositionFrom q f (l ++ [p]) n m =
      if p.counter = some q ∧ f p = true then n + signals q l + 1 else lastPositionFrom q f l n m := by
  induction l generalizing n m with
  | nil => simp [lastPositionFrom]; split <;> simp_all
  | cons x t ih =>
    simp only [List.cons_append, lastPositionFrom, signals_cons]
    split
    · split <;> (rw [ih]; split <;> simp_all <;> omega)
    · rw [ih]; split <;> simp_all

theorem lastPosition_snoc (q : Q) (f : Instance E Q → Bool) (l : List (Instance E Q)) (p : Instance E Q) :
    lastPosition q f (l ++ [p]) =
      if p.counter = some q ∧ f p = true then signals q l + 1 else lastPosition q f l := by
  simp [lastPosition, lastPositionFrom_snoc]

/-- The last position is the maximum: it is at most `k` exactly if the position of every match is. -/
theorem lastPosition_le_iff (q : Q) (f : Instance E Q → Bool) (l : List (Instance E Q)) (k : Nat) :
    lastPosition q f l ≤ k ↔
      ∀ a p b, l = a ++ p :: b → p.counter = some q → f p = true → signals q a + 1 ≤ k := by
  induction l using snoc_induction with
  | nil => simp
  | snoc l x ih =>
    rw [lastPosition_snoc]
    constructor
    · intro h a p b e hp hq
      rcases append_cons_eq_snoc e.symm with ⟨_, rfl, rfl⟩ | ⟨b', _, h2⟩
      · simp_all
      · have h1 : signals q a + 1 ≤ signals q l := by
          rw [← h2]; simp [signals_cons, hp]
        split at h
        · omega
        · exact ih.mp h a p b' h2.symm hp hq
    · intro h
      split
      · rename_i hx
        exact h l x [] rfl hx.1 hx.2
      · apply ih.mpr
        intro a p b e hp hq
        exact h a p (b ++ [x]) (by simp [e]) hp hq

theorem lastPosition_le_signals (q : Q) (f : Instance E Q → Bool) (l : List (Instance E Q)) :
    lastPosition q f l ≤ signals q l := by
  rw [lastPosition_le_iff]
  intro a p b e hp _
  rw [e]; simp [signals_cons, hp]

theorem lastPosition_append_of_no_signal (q : Q) (f : Instance E Q → Bool) (pre l : List (Instance E Q))
    (h : signals q l = 0) : lastPosition q f (pre ++ l) = lastPosition q f pre := by
  induction l using snoc_induction with
  | nil => simp
  | snoc l x ih =>
    rw [signals_append, signals_cons] at h
    rw [← List.append_assoc, lastPosition_snoc]
    split
    · rename_i hx; simp [hx.1] at h
    · apply ih; omega

theorem lastPosition_congr (q : Q) (f g : Instance E Q → Bool) (l : List (Instance E Q))
    (h : ∀ x ∈ l, f x = g x) : lastPosition q f l = lastPosition q g l := by
  induction l using snoc_induction with
  | nil => rfl
  | snoc l x ih =>
    rw [lastPosition_snoc, lastPosition_snoc, ih (fun y hy => h y (by simp [hy])), h x (by simp)]

/-- `required ≤ completed` for every counter says exactly that every dependence has completed. -/
theorem required_le_iff (D : DepRel E Q) (before : List (Instance E Q)) (c : Instance E Q) (k : Q → Nat) :
    (∀ q, required D before c q ≤ k q) ↔
      ∀ a p b q, before = a ++ p :: b → D p c = true → p.counter = some q → signals q a + 1 ≤ k q := by
  constructor
  · intro h a p b q e hd hq
    exact (lastPosition_le_iff _ _ _ _).mp (h q) a p b e hq hd
  · intro h q
    rw [required, lastPosition_le_iff]
    intro a p b e hp hd
    exact h a p b q e hd hp

end Headway
end
