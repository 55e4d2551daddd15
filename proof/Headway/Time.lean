module
public import Headway.Guarded
@[expose] public noncomputable section

/-!
# Time: lower thresholds never start anything later

A run with times: every instance of the reference `l` (with its thresholds) has a start and an end. `Feasible` says what engines, queues and waits
impose: an engine starts its instances in order, each `busy c` after the one before; what signals one counter ends in order; an
instance ends at least `takes c` after its start; and it starts no earlier than `hop` after the end of every signal that it waits for.

* `feasible_lower`: what is feasible for higher thresholds is feasible for lower ones.
* `earliest_feasible`, `earliest_least`: the earliest times are feasible, and no feasible run is earlier anywhere.
* `fastest`: so with thresholds that are pointwise lower or equal every start is earlier or equal, whatever instructions take: the
  required thresholds are also the fastest.

Not in this model: the time that executing a wait or a register operation takes.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- How long things take: from start to end, until the engine may start its next instance, and from a signal to the
engines that wait for it. -/
structure Duration (E Q : Type) where
  takes : Instance E Q → Nat
  busy : Instance E Q → Nat
  hop : Nat

/-- The reference in sequential order, each instance with its thresholds. -/
abbrev Annotated (E Q : Type) := List (Instance E Q × (Q → Nat))

/-- `c`, with the thresholds `g`, waits for `p`, which comes after the instances `before`. -/
def waitsFor (before : List (Instance E Q)) (p : Instance E Q) (g : Q → Nat) : Prop :=
  ∃ q, p.counter = some q ∧ signals q before < g q

/-- The times that engines, counters and waits allow. `i` and `j` are places in the reference. -/
structure Feasible (δ : Duration E Q) (l : Annotated E Q) (start finish : Nat → Nat) : Prop where
  takes : ∀ i c g, l[i]? = some (c, g) → start i + δ.takes c ≤ finish i
  engine : ∀ (i j : Nat) c g c' g', i < j → l[i]? = some (c, g) → l[j]? = some (c', g') → c.engine = c'.engine →
    start i + δ.busy c ≤ start j
  counter : ∀ (i j : Nat) c g c' g' q, i < j → l[i]? = some (c, g) → l[j]? = some (c', g') → c.counter = some q →
    c'.counter = some q → finish i ≤ finish j
  wait : ∀ (i j : Nat) c g c' g', l[i]? = some (c, g) → l[j]? = some (c', g') →
    waitsFor ((l.take i).map Prod.fst) c g' → finish i + δ.hop ≤ start j

/-- The same instances, with thresholds pointwise lower or equal. -/
def Lower (l l' : Annotated E Q) : Prop :=
  l.map Prod.fst = l'.map Prod.fst ∧
    ∀ (i : Nat) (c : Instance E Q) (g g' : Q → Nat), l[i]? = some (c, g) → l'[i]? = some (c, g') → ∀ q, g q ≤ g' q

theorem Lower.get {l l' : Annotated E Q} (h : Lower l l') {i : Nat} {c : Instance E Q} {g : Q → Nat}
    (hi : l[i]? = some (c, g)) : ∃ g', l'[i]? = some (c, g') ∧ ∀ q, g q ≤ g' q := by
  have h1 : (l.map Prod.fst)[i]? = some c := by simp [hi]
  rw [h.1] at h1
  simp only [List.getElem?_map, Option.map_eq_some_iff] at h1
  obtain ⟨⟨c', g'⟩, h2, h3⟩ := h1
  simp only at h3
  subst h3
  exact ⟨g', h2, h.2 i _ g g' hi h2⟩

/-- What is feasible for higher thresholds is feasible for lower ones. -/
theorem feasible_lower {δ : Duration E Q} {l l' : Annotated E Q} (h : Lower l l') {start finish : Nat → Nat}
    (hf : Feasible δ l' start finish) : Feasible δ l start finish := by
  refine ⟨?_, ?_, ?_, ?_⟩
  · intro i c g hi
    obtain ⟨g', hi', _⟩ := h.get hi
    exact hf.takes i c g' hi'
  · intro i j c g c' g' hij hi hj he
    obtain ⟨_, hi', _⟩ := h.get hi
    obtain ⟨_, hj', _⟩ := h.get hj
    exact hf.engine i j _ _ _ _ hij hi' hj' he
  · intro i j c g c' g' q hij hi hj hq hq'
    obtain ⟨_, hi', _⟩ := h.get hi
    obtain ⟨_, hj', _⟩ := h.get hj
    exact hf.counter i j _ _ _ _ q hij hi' hj' hq hq'
  · intro i j c g c' g' hi hj ⟨q, hq, hlt⟩
    obtain ⟨_, hi', _⟩ := h.get hi
    obtain ⟨g2, hj', hle⟩ := h.get hj
    refine hf.wait i j _ _ _ _ hi' hj' ⟨q, hq, ?_⟩
    have : (l.take i).map Prod.fst = (l'.take i).map Prod.fst := by rw [List.map_take, List.map_take, h.1]
    rw [← this]
    exact Nat.lt_of_lt_of_le hlt (hle q)

/-! ## The earliest times -/

/-- The largest of `f i` over `i < n`. -/
def maxBelow (f : Nat → Nat) : Nat → Nat
  | 0 => 0
  | n + 1 => max (maxBelow f n) (f n)

theorem le_maxBelow (f : Nat → Nat) {i n : Nat} (h : i < n) : f i ≤ maxBelow f n := by
  induction n with
  | zero => omega
  | succ n ih =>
    simp only [maxBelow]
    by_cases hi : i = n
    · subst hi; omega
    · have := ih (by omega); omega

theorem maxBelow_le (f : Nat → Nat) (n k : Nat) (h : ∀ i, i < n → f i ≤ k) : maxBelow f n ≤ k := by
  induction n with
  | zero => simp [maxBelow]
  | succ n ih =>
    have h1 := ih (fun i hi => h i (by omega))
    have h2 := h n (by omega)
    simp only [maxBelow]; omega

instance (before : List (Instance E Q)) (p : Instance E Q) (g : Q → Nat) : Decidable (waitsFor before p g) :=
  match h : p.counter with
  | none => isFalse (by rintro ⟨q, hq, _⟩; rw [h] at hq; simp at hq)
  | some q =>
    if hlt : signals q before < g q then isTrue ⟨q, h, hlt⟩
    else isFalse (by rintro ⟨q', hq', hlt'⟩; rw [h] at hq'; simp at hq'; subst hq'; exact hlt hlt')

/-- What place `i`, with start `s` and end `f`, imposes on the start of `c`. -/
def startAfter (δ : Duration E Q) (l : Annotated E Q) (c : Instance E Q) (g : Q → Nat) (i s f : Nat) : Nat :=
  match l[i]? with
  | none => 0
  | some (p, _) =>
    max (if p.engine = c.engine then s + δ.busy p else 0)
      (if waitsFor ((l.take i).map Prod.fst) p g then f + δ.hop else 0)

/-- What place `i` with end `f` imposes on the end of `c`. -/
def endAfter (l : Annotated E Q) (c : Instance E Q) (i f : Nat) : Nat :=
  match l[i]? with
  | none => 0
  | some (p, _) => if p.counter = c.counter ∧ p.counter.isSome then f else 0

/-- The earliest start and end of the first `n` places, as functions. -/
def earliestTo (δ : Duration E Q) (l : Annotated E Q) : Nat → (Nat → Nat) × (Nat → Nat)
  | 0 => (fun _ => 0, fun _ => 0)
  | n + 1 =>
    let before := earliestTo δ l n
    match l[n]? with
    | none => before
    | some (c, g) =>
      let s := maxBelow (fun i => startAfter δ l c g i (before.1 i) (before.2 i)) n
      let f := max (s + δ.takes c) (maxBelow (fun i => endAfter l c i (before.2 i)) n)
      (update before.1 n s, update before.2 n f)

def earliestStart (δ : Duration E Q) (l : Annotated E Q) : Nat → Nat := (earliestTo δ l l.length).1
def earliestEnd (δ : Duration E Q) (l : Annotated E Q) : Nat → Nat := (earliestTo δ l l.length).2

/-- Thresholds speak of earlier signals only; otherwise nothing could ever start. -/
def Grounded (l : Annotated E Q) : Prop :=
  ∀ (j : Nat) (c : Instance E Q) (g : Q → Nat), l[j]? = some (c, g) → ∀ q, g q ≤ signals q ((l.take j).map Prod.fst)

/-- Later steps do not change earlier places. -/
theorem earliestTo_stable (δ : Duration E Q) (l : Annotated E Q) {i n m : Nat} (hi : i < n) (hn : n ≤ m) :
    (earliestTo δ l m).1 i = (earliestTo δ l n).1 i ∧ (earliestTo δ l m).2 i = (earliestTo δ l n).2 i := by
  induction m with
  | zero => omega
  | succ m ih =>
    by_cases hm : n = m + 1
    · subst hm; exact ⟨rfl, rfl⟩
    · have ih := ih (by omega)
      have hne : i ≠ m := by omega
      simp only [earliestTo]
      split
      · exact ih
      · simpa [update_ne _ _ hne] using ih

/-- The equations of the earliest times. -/
theorem earliest_eq (δ : Duration E Q) (l : Annotated E Q) {j : Nat} {c : Instance E Q} {g : Q → Nat}
    (hj : l[j]? = some (c, g)) :
    earliestStart δ l j = maxBelow (fun i => startAfter δ l c g i (earliestStart δ l i) (earliestEnd δ l i)) j ∧
    earliestEnd δ l j = max (earliestStart δ l j + δ.takes c) (maxBelow (fun i => endAfter l c i (earliestEnd δ l i)) j) := by
  have hlt : j < l.length := (List.getElem?_eq_some_iff.mp hj).1
  have hs : ∀ i, i < j → earliestStart δ l i = (earliestTo δ l j).1 i ∧ earliestEnd δ l i = (earliestTo δ l j).2 i :=
    fun i hi => earliestTo_stable δ l hi (Nat.le_of_lt hlt)
  have hat := earliestTo_stable δ l (Nat.lt_succ_self j) (show j + 1 ≤ l.length from hlt)
  have congr : ∀ (f g : Nat → Nat) (n : Nat), (∀ i, i < n → f i = g i) → maxBelow f n = maxBelow g n := by
    intro f g n h
    induction n with
    | zero => rfl
    | succ n ih => simp only [maxBelow, ih (fun i hi => h i (by omega)), h n (by omega)]
  have h1 : earliestStart δ l j =
      maxBelow (fun i => startAfter δ l c g i ((earliestTo δ l j).1 i) ((earliestTo δ l j).2 i)) j := by
    show (earliestTo δ l l.length).1 j = _
    rw [hat.1]
    simp [earliestTo, hj]
  have h2 : earliestEnd δ l j = max
      (maxBelow (fun i => startAfter δ l c g i ((earliestTo δ l j).1 i) ((earliestTo δ l j).2 i)) j + δ.takes c)
      (maxBelow (fun i => endAfter l c i ((earliestTo δ l j).2 i)) j) := by
    show (earliestTo δ l l.length).2 j = _
    rw [hat.2]
    simp [earliestTo, hj]
  have h3 : earliestStart δ l j =
      maxBelow (fun i => startAfter δ l c g i (earliestStart δ l i) (earliestEnd δ l i)) j := by
    rw [h1]
    exact congr _ _ _ (fun i hi => by rw [(hs i hi).1, (hs i hi).2])
  refine ⟨h3, ?_⟩
  rw [h2, ← h1]
  congr 1
  exact congr _ _ _ (fun i hi => by rw [(hs i hi).2])

/-- No feasible run starts or ends anything earlier. -/
theorem earliest_least (δ : Duration E Q) (l : Annotated E Q) {start finish : Nat → Nat}
    (hf : Feasible δ l start finish) :
    ∀ j, j < l.length → earliestStart δ l j ≤ start j ∧ earliestEnd δ l j ≤ finish j := by
  intro j
  induction j using Nat.strongRecOn with
  | _ j ih =>
    intro hj
    obtain ⟨⟨c, g⟩, hget⟩ : ∃ x, l[j]? = some x := ⟨_, List.getElem?_eq_getElem hj⟩
    obtain ⟨h1, h2⟩ := earliest_eq δ l hget
    have hstart : earliestStart δ l j ≤ start j := by
      rw [h1]
      apply maxBelow_le
      intro i hi
      have hih := ih i hi (by omega)
      simp only [startAfter]
      split
      · omega
      · rename_i p g' hp
        apply Nat.max_le.mpr
        constructor
        · split
          · rename_i he
            have := hf.engine i j _ _ _ _ hi hp hget he
            omega
          · omega
        · split
          · rename_i hw
            have := hf.wait i j _ _ _ _ hp hget hw
            omega
          · omega
    refine ⟨hstart, ?_⟩
    rw [h2]
    apply Nat.max_le.mpr
    constructor
    · have := hf.takes j c g hget
      omega
    · apply maxBelow_le
      intro i hi
      have hih := ih i hi (by omega)
      simp only [endAfter]
      split
      · omega
      · rename_i p g' hp
        split
        · rename_i hq
          obtain ⟨q, hq2⟩ := Option.isSome_iff_exists.mp hq.2
          have := hf.counter i j _ _ _ _ q hi hp hget hq2 (by rw [← hq.1]; exact hq2)
          omega
        · omega

/-- The earliest times are feasible. -/
theorem earliest_feasible (δ : Duration E Q) (l : Annotated E Q) (hl : Grounded l) :
    Feasible δ l (earliestStart δ l) (earliestEnd δ l) := by
  refine ⟨?_, ?_, ?_, ?_⟩
  · intro i c g hi
    rw [(earliest_eq δ l hi).2]; omega
  · intro i j c g c' g' hij hi hj he
    rw [(earliest_eq δ l hj).1]
    refine Nat.le_trans ?_ (le_maxBelow _ hij)
    simp only [startAfter, hi, he, if_true]
    omega
  · intro i j c g c' g' q hij hi hj hq hq'
    rw [(earliest_eq δ l hj).2]
    refine Nat.le_trans ?_ (Nat.le_max_right _ _)
    refine Nat.le_trans ?_ (le_maxBelow _ hij)
    simp [endAfter, hi, hq, hq']
  · intro i j c g c' g' hi hj hw
    have hij : i < j := by
      obtain ⟨q, hq, hlt⟩ := hw
      by_cases hlt' : i < j
      · exact hlt'
      · have h1 := hl j c' g' hj q
        have h2 : signals q ((l.take j).map Prod.fst) ≤ signals q ((l.take i).map Prod.fst) := by
          have : (l.take i).map Prod.fst = (l.take j).map Prod.fst ++ ((l.take i).drop j).map Prod.fst := by
            rw [← List.map_append]
            have h3 : l.take j = (l.take i).take j := by rw [List.take_take, Nat.min_eq_left (by omega)]
            rw [h3, List.take_append_drop]
          rw [this, signals_append]; omega
        omega
    rw [(earliest_eq δ l hj).1]
    refine Nat.le_trans ?_ (le_maxBelow _ hij)
    simp only [startAfter, hi, if_pos hw]
    omega

/-- With thresholds pointwise lower or equal, every instance starts and ends earlier or at the same time. -/
theorem fastest (δ : Duration E Q) {l l' : Annotated E Q} (h : Lower l l') (hl : Grounded l') :
    ∀ j, j < l.length → earliestStart δ l j ≤ earliestStart δ l' j ∧ earliestEnd δ l j ≤ earliestEnd δ l' j :=
  earliest_least δ l (feasible_lower h (earliest_feasible δ l' hl))

/-- The reference with the required thresholds. -/
def withRequired (D : DepRel E Q) : List (Instance E Q) → List (Instance E Q) → Annotated E Q
  | _, [] => []
  | pre, c :: t => (c, required D pre c) :: withRequired D (pre ++ [c]) t

theorem withRequired_map (D : DepRel E Q) (pre T : List (Instance E Q)) :
    (withRequired D pre T).map Prod.fst = T := by
  induction T generalizing pre with
  | nil => rfl
  | cons c t ih => simp [withRequired, ih]

theorem withRequired_get (D : DepRel E Q) (pre T : List (Instance E Q)) (i : Nat) (c : Instance E Q) (g : Q → Nat)
    (h : (withRequired D pre T)[i]? = some (c, g)) : g = required D (pre ++ T.take i) c := by
  induction T generalizing pre i with
  | nil => simp [withRequired] at h
  | cons x t ih =>
    cases i with
    | zero => simp [withRequired] at h; obtain ⟨rfl, rfl⟩ := h; simp
    | succ i =>
      simp only [withRequired, List.getElem?_cons_succ] at h
      simpa using ih _ i h

/-- The required thresholds are the fastest: any placement whose thresholds are at least `required`, such as the barrier
baseline, starts and ends every instance later or at the same time. -/
theorem required_is_fastest (δ : Duration E Q) (D : DepRel E Q) (T : List (Instance E Q)) (l : Annotated E Q)
    (hT : l.map Prod.fst = T) (hl : Grounded l)
    (h : ∀ (i : Nat) (c : Instance E Q) (g : Q → Nat), l[i]? = some (c, g) → ∀ q, required D (T.take i) c q ≤ g q) :
    ∀ j, j < T.length → earliestStart δ (withRequired D [] T) j ≤ earliestStart δ l j ∧
      earliestEnd δ (withRequired D [] T) j ≤ earliestEnd δ l j := by
  intro j hj
  refine fastest δ ⟨by rw [withRequired_map, hT], ?_⟩ hl j ?_
  · intro i c g g' hi hi' q
    have := withRequired_get D [] T i c g hi
    rw [this]
    simpa using h i c g' hi' q
  · have := congrArg List.length (withRequired_map D [] T)
    simp only [List.length_map] at this
    omega

end Headway
end
