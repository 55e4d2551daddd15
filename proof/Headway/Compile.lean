module
public import Headway.Engine
@[expose] public noncomputable section

/-!
# The compiler: thresholds from shadows and captures

The static description `Deps` says which registers an instruction saves when it signals (`touches`) and which it waits for
(`needs`). The scoreboard (file `Scoreboard`) is the description whose keys are pairs of buffer and kind of access.

`compile d e P` is the code of engine `e`: it walks the whole program; in front of its own instructions it waits; after each
instruction of ANY engine it counts the signal and saves the captures. Main results:

* `compile_track`: at every control point the shadows and captures hold the counts and last positions of the sequential reference.
* `compile_bisim`: the machine that runs the compiled code is weakly bisimilar to the specification machine, in every run.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- One static dependence of an instruction: on the last signal of `counter` that touched `key` in the slot `slot`
(evaluated in the iteration of the instruction that waits). `whole`: every touch of the key is in that slot. -/
structure Need (Q : Type) where
  counter : Q
  key : Nat
  slot : Slot
  whole : Bool

structure Deps (Q : Type) where
  touches : Nat → List (Nat × Slot)
  needs : Nat → List (Need Q)

/-- Instruction `i` touches `key` in some slot. -/
def Deps.touchesKey (d : Deps Q) (key : Nat) (i : Nat) : Bool := (d.touches i).any (fun t => decide (t.1 = key))

/-- In iteration `v` some entry of the list touches slot number `s` of `key`. -/
def hits (l : List (Nat × Slot)) (v : List Nat) (key s : Nat) : Bool :=
  l.any (fun t => decide (t.1 = key) && decide (t.2.eval v = s))

/-- The instance `x` touches slot number `s` of `key`. -/
def Deps.touched (d : Deps Q) (key s : Nat) (x : Instance E Q) : Bool := hits (d.touches x.instr) x.iteration key s

/-- The dependence relation that the description stands for. -/
def Deps.rel (d : Deps Q) : DepRel E Q := fun p c =>
  (d.needs c.instr).any (fun n => decide (p.counter = some n.counter) && d.touched n.key (n.slot.eval c.iteration) p)

/-- The flags `whole` are true. -/
def Deps.Valid (d : Deps Q) : Prop :=
  ∀ c, ∀ n ∈ d.needs c, n.whole = true → ∀ i, ∀ t ∈ d.touches i, t.1 = n.key → ∀ v w, t.2.eval w = n.slot.eval v

/-! ## Static gaps -/

/-- `st q key = some k`: the last signal of `q` that touched `key` lies exactly `k` signals of `q` back. -/
abbrev Gaps (Q : Type) := Q → Nat → Option Nat

def Program.signalsOn (q : Q) : Program E Q → Bool
  | .skip => false
  | .instr _ _ p => decide (p = some q)
  | .seq a b => a.signalsOn q || b.signalsOn q
  | .branch _ a b => a.signalsOn q || b.signalsOn q
  | .loop _ s => s.signalsOn q

/-- A loop may run any number of times: what it signals is not static, inside and after it. -/
def Gaps.forget (s : Program E Q) (st : Gaps Q) : Gaps Q := fun q k => if s.signalsOn q then none else st q k
def Gaps.join (st st' : Gaps Q) : Gaps Q := fun q k => if st q k = st' q k then st q k else none
def Gaps.pass (d : Deps Q) (i : Nat) (counter : Option Q) (st : Gaps Q) : Gaps Q := fun q k =>
  if counter = some q then (if d.touchesKey k i then some 0 else (st q k).map (· + 1)) else st q k

def Gaps.after (d : Deps Q) : Program E Q → Gaps Q → Gaps Q
  | .skip, st => st
  | .instr i _ q, st => st.pass d i q
  | .seq a b, st => Gaps.after d b (Gaps.after d a st)
  | .branch _ a b, st => (Gaps.after d a st).join (Gaps.after d b st)
  | .loop _ s, st => st.forget s

/-! ## The compiler -/

def compileNeed (st : Gaps Q) (n : Need Q) : Code Q :=
  match n.whole, st n.counter n.key with
  | true, some k => .waitShadow n.counter k
  | _, _ => .waitCapture n.counter n.key n.slot

def compileNeeds (st : Gaps Q) : List (Need Q) → Code Q
  | [] => .nop
  | n :: t => .seq (compileNeed st n) (compileNeeds st t)

def captures (q : Q) : List (Nat × Slot) → Code Q
  | [] => .nop
  | (key, slot) :: t => .seq (.capture q key slot) (captures q t)

/-- Count the signal first, then save it: the captured value is the position of the instance itself. -/
def passSignal (d : Deps Q) (i : Nat) : Option Q → Code Q
  | none => .nop
  | some q => .seq (.count q 1) (captures q (d.touches i))

def compileFrom (d : Deps Q) (e : E) : Program E Q → Gaps Q → Code Q
  | .skip, _ => .nop
  | .instr i a q, st => .seq (if a = e then .seq (compileNeeds st (d.needs i)) (.issue i q) else .nop) (passSignal d i q)
  | .seq a b, st => .seq (compileFrom d e a st) (compileFrom d e b (Gaps.after d a st))
  | .branch k a b, st => .branch k (compileFrom d e a st) (compileFrom d e b st)
  | .loop k s, st => .loop k (compileFrom d e s (st.forget s))

/-- The code of engine `e`. -/
def compile (d : Deps Q) (e : E) (P : Program E Q) : Code Q := compileFrom d e P (fun _ _ => none)

/-! ## Tracking: what the registers hold -/

/-- Registers hold the counts and last positions of the sequential reference at the control point after `pre`. -/
def Tracks (d : Deps Q) (pre : List (Instance E Q)) (ρ : Registers Q) : Prop :=
  (∀ q, ρ.shadow q = signals q pre) ∧ ∀ q k s, ρ.capture q k s = lastPosition q (d.touched k s) pre

/-- The static gaps are right at the control point after `pre`. -/
def GapsHold (d : Deps Q) (pre : List (Instance E Q)) (st : Gaps Q) : Prop :=
  ∀ q k n, st q k = some n → lastPosition q (fun x => d.touchesKey k x.instr) pre = signals q pre - n

/-- The effects that engine `e` owes for the part `l` of the reference after `pre`. -/
def effectsFrom (d : Deps Q) (e : E) : List (Instance E Q) → List (Instance E Q) → List (Effect E Q)
  | _, [] => []
  | pre, c :: t =>
    (if c.engine = e then
      (d.needs c.instr).map (fun n =>
        Effect.wait n.counter (lastPosition n.counter (d.touched n.key (n.slot.eval c.iteration)) pre)) ++ [.issue c]
     else []) ++ effectsFrom d e (pre ++ [c]) t

theorem effectsFrom_append (d : Deps Q) (e : E) (pre l m : List (Instance E Q)) :
    effectsFrom d e pre (l ++ m) = effectsFrom d e pre l ++ effectsFrom d e (pre ++ l) m := by
  induction l generalizing pre with
  | nil => simp [effectsFrom]
  | cons c t ih => simp [effectsFrom, ih]

theorem signals_iterate_zero (q : Q) (f : Nat → List (Instance E Q)) (h : ∀ j, signals q (f j) = 0) (n j : Nat) :
    signals q (iterate f n j) = 0 := by
  induction n generalizing j with
  | zero => rfl
  | succ n ih => simp [iterate, h, ih]

theorem signals_of_not_signalsOn (ω : Control) (q : Q) (s : Program E Q) (h : s.signalsOn q = false) (v : List Nat) :
    signals q (unroll ω s v) = 0 := by
  induction s generalizing v with
  | skip => rfl
  | instr i e p => simp [Program.signalsOn] at h; simp [unroll, signals_cons, h]
  | seq a b iha ihb => simp [Program.signalsOn] at h; simp [unroll, iha h.1, ihb h.2]
  | branch k a b iha ihb =>
    simp [Program.signalsOn] at h
    simp only [unroll]; split
    · exact ihb h.2 v
    · exact iha h.1 v
  | loop k s ih => exact signals_iterate_zero q _ (fun j => ih h _) _ _

theorem gapsHold_forget {d : Deps Q} {pre : List (Instance E Q)} {st : Gaps Q} (s : Program E Q)
    (h : GapsHold d pre st) : GapsHold d pre (st.forget s) := by
  intro q p k hk
  simp only [Gaps.forget] at hk
  split at hk
  · simp at hk
  · exact h q p k hk

theorem gapsHold_forget_append {d : Deps Q} {pre l : List (Instance E Q)} {st : Gaps Q} {s : Program E Q}
    (h : GapsHold d pre (st.forget s)) (hl : ∀ q, s.signalsOn q = false → signals q l = 0) :
    GapsHold d (pre ++ l) (st.forget s) := by
  intro q p k hk
  have hq : s.signalsOn q = false := by
    simp only [Gaps.forget] at hk
    split at hk
    · simp at hk
    · simp_all
  rw [lastPosition_append_of_no_signal _ _ _ _ (hl q hq), signals_append, hl q hq]
  exact h q p k hk

theorem gapsHold_pass {d : Deps Q} {pre : List (Instance E Q)} {st : Gaps Q} (h : GapsHold d pre st)
    (x : Instance E Q) : GapsHold d (pre ++ [x]) (st.pass d x.instr x.counter) := by
  intro q key k hk
  rw [lastPosition_snoc]
  simp only [Gaps.pass] at hk
  by_cases hq : x.counter = some q
  · by_cases ht : d.touchesKey key x.instr = true
    · simp [hq, ht] at hk; subst hk; simp [signals_cons, hq, ht]
    · simp [hq, ht] at hk
      obtain ⟨k', hk', rfl⟩ := hk
      have := h _ _ _ hk'
      simp [ht, signals_cons, hq, this]
  · simp [hq] at hk
    have := h _ _ _ hk
    simp [hq, signals_cons, this]

theorem gapsHold_after {d : Deps Q} (ω : Control) (s : Program E Q) (v : List Nat) (pre : List (Instance E Q))
    (st : Gaps Q) (h : GapsHold d pre st) : GapsHold d (pre ++ unroll ω s v) (Gaps.after d s st) := by
  induction s generalizing v pre st with
  | skip => simpa [unroll, Gaps.after] using h
  | instr i e q => exact gapsHold_pass h ⟨i, e, q, v⟩
  | seq a b iha ihb =>
    simp only [unroll, Gaps.after, ← List.append_assoc]
    exact ihb _ _ _ (iha _ _ _ h)
  | branch k a b iha ihb =>
    intro q p n hn
    simp only [Gaps.after, Gaps.join] at hn
    split at hn
    · rename_i heq
      simp only [unroll]; split
      · exact ihb v pre st h q p n (by rw [← heq]; exact hn)
      · exact iha v pre st h q p n hn
    · simp at hn
  | loop k s ih =>
    refine gapsHold_forget_append (gapsHold_forget s h) ?_
    intro q hq
    exact signals_of_not_signalsOn ω q (.loop k s) hq v

/-- Where every touch of a key is in one slot, touching the key is touching that slot. -/
theorem touched_of_whole {d : Deps Q} {n : Need Q} {v : List Nat} (x : Instance E Q)
    (hw : ∀ i, ∀ t ∈ d.touches i, t.1 = n.key → ∀ v w, t.2.eval w = n.slot.eval v) :
    d.touchesKey n.key x.instr = d.touched n.key (n.slot.eval v) x := by
  rw [Bool.eq_iff_iff]
  simp only [Deps.touchesKey, Deps.touched, hits, List.any_eq_true, Bool.and_eq_true, decide_eq_true_eq]
  constructor
  · rintro ⟨t, h1, h2⟩; exact ⟨t, h1, h2, hw _ t h1 h2 _ _⟩
  · rintro ⟨t, h1, h2, _⟩; exact ⟨t, h1, h2⟩

theorem run_compileNeed {d : Deps Q} (ω : Control) (e : E) {pre : List (Instance E Q)} {ρ : Registers Q}
    {st : Gaps Q} (hT : Tracks d pre ρ) (hG : GapsHold d pre st) (n : Need Q) (v : List Nat)
    (hw : n.whole = true → ∀ i, ∀ t ∈ d.touches i, t.1 = n.key → ∀ v w, t.2.eval w = n.slot.eval v) :
    run ω e (compileNeed st n) v ρ =
      ([.wait n.counter (lastPosition n.counter (d.touched n.key (n.slot.eval v)) pre)], ρ) := by
  unfold compileNeed
  split
  · rename_i k h1 h2
    have := hG _ _ _ h2
    simp only [run, hT.1]
    rw [← this, lastPosition_congr _ _ (d.touched n.key (n.slot.eval v))]
    intro x _
    exact touched_of_whole x (hw h1)
  · simp [run, hT.2]

theorem run_compileNeeds {d : Deps Q} (ω : Control) (e : E) {pre : List (Instance E Q)} {ρ : Registers Q}
    {st : Gaps Q} (hT : Tracks d pre ρ) (hG : GapsHold d pre st) (l : List (Need Q)) (v : List Nat)
    (hw : ∀ n ∈ l, n.whole = true → ∀ i, ∀ t ∈ d.touches i, t.1 = n.key → ∀ v w, t.2.eval w = n.slot.eval v) :
    run ω e (compileNeeds st l) v ρ =
      (l.map (fun n => Effect.wait n.counter (lastPosition n.counter (d.touched n.key (n.slot.eval v)) pre)), ρ) := by
  induction l with
  | nil => simp [compileNeeds, run]
  | cons n t ih =>
    have h1 := run_compileNeed ω e hT hG n v (hw n (by simp))
    have h2 := ih (fun x hx => hw x (by simp [hx]))
    simp [compileNeeds, run, h1, h2]

/-- All captures of one signal. -/
def Registers.saveAll (ρ : Registers Q) (q : Q) (v : List Nat) (l : List (Nat × Slot)) : Registers Q :=
  ⟨ρ.shadow, fun p k s =>
    if p = q then (if hits l v k s = true then ρ.shadow q else ρ.capture p k s) else ρ.capture p k s⟩

theorem hits_cons (key : Nat) (slot : Slot) (l : List (Nat × Slot)) (v : List Nat) (k s : Nat) :
    hits ((key, slot) :: l) v k s = (decide (key = k ∧ slot.eval v = s) || hits l v k s) := by
  simp [hits]

theorem run_captures (ω : Control) (e : E) (q : Q) (l : List (Nat × Slot)) (v : List Nat) (ρ : Registers Q) :
    run ω e (captures q l) v ρ = ([], ρ.saveAll q v l) := by
  induction l generalizing ρ with
  | nil => simp [captures, run, Registers.saveAll, hits]
  | cons t l ih =>
    obtain ⟨key, slot⟩ := t
    simp only [captures, run, ih, List.append_nil, Registers.saveAll, Registers.save,
      Prod.mk.injEq, Registers.mk.injEq, true_and]
    funext p k s
    rw [hits_cons]
    by_cases hp : p = q
    · rw [if_pos hp, if_pos hp]
      cases hits l v k s with
      | true => simp
      | false =>
        by_cases h1 : key = k ∧ slot.eval v = s
        · obtain ⟨rfl, rfl⟩ := h1; simp [hp]
        · rw [if_neg (by simp), if_neg (fun h => h1 ⟨h.2.1.symm, h.2.2.symm⟩), if_neg (by simpa using h1)]
    · rw [if_neg hp, if_neg hp, if_neg (fun h => hp h.1)]

/-- Passing one instance keeps the registers on track. -/
theorem tracks_pass {d : Deps Q} (ω : Control) (e : E) {pre : List (Instance E Q)} {ρ : Registers Q}
    (hT : Tracks d pre ρ) (x : Instance E Q) :
    (run ω e (passSignal d x.instr x.counter) x.iteration ρ).1 = [] ∧
      Tracks d (pre ++ [x]) (run ω e (passSignal d x.instr x.counter) x.iteration ρ).2 := by
  cases hx : x.counter with
  | none =>
    refine ⟨by simp [passSignal, run], fun q => ?_, fun q k s => ?_⟩
    · simp [passSignal, run, signals_cons, hx, hT.1]
    · simp [passSignal, run, lastPosition_snoc, hx, hT.2]
  | some q =>
    refine ⟨by simp [passSignal, run, run_captures], fun p => ?_, fun p k s => ?_⟩
    · have := hT.1 p
      simp only [passSignal, run, run_captures, Registers.saveAll, Registers.add, update_apply, signals_append,
        signals_cons, signals_nil, hx]
      by_cases h : p = q
      · subst h; simp [this]
      · simp [h, Ne.symm h, this]
    · have h1 := hT.1 q
      have h2 := hT.2 p k s
      rw [lastPosition_snoc, hx]
      simp only [passSignal, run, run_captures, Registers.saveAll, Registers.add, update_same, h1, h2]
      by_cases h : p = q
      · subst h
        cases ht : hits (d.touches x.instr) x.iteration k s with
        | false => rw [if_pos rfl, if_neg (by simp), if_neg (by simp [Deps.touched, ht])]
        | true => rw [if_pos rfl, if_pos rfl, if_pos ⟨rfl, ht⟩]
      · rw [if_neg h, if_neg (fun h' => h (Option.some.inj h'.1).symm)]

/-- Iterating a tracked body. -/
theorem iterate_track {d : Deps Q} {e : E} {f : Nat → Registers Q → List (Effect E Q) × Registers Q}
    {g : Nat → List (Instance E Q)} (P : List (Instance E Q) → Prop)
    (hf : ∀ j pre ρ, Tracks d pre ρ → P pre →
      (f j ρ).1 = effectsFrom d e pre (g j) ∧ Tracks d (pre ++ g j) (f j ρ).2 ∧ P (pre ++ g j)) :
    ∀ n j pre ρ, Tracks d pre ρ → P pre →
      (iterateCode f n j ρ).1 = effectsFrom d e pre (iterate g n j) ∧
      Tracks d (pre ++ iterate g n j) (iterateCode f n j ρ).2 := by
  intro n
  induction n with
  | zero => intro j pre ρ hT _; exact ⟨rfl, by simpa [iterate, iterateCode] using hT⟩
  | succ n ih =>
    intro j pre ρ hT hP
    obtain ⟨h1, h2, h3⟩ := hf j pre ρ hT hP
    obtain ⟨h4, h5⟩ := ih (j + 1) _ _ h2 h3
    refine ⟨?_, ?_⟩
    · simp only [iterateCode, iterate, effectsFrom_append, h1, h4]
    · simpa only [iterateCode, iterate, ← List.append_assoc] using h5

/-- The compiled code, started with registers that track `pre`, has exactly the effects that the reference prescribes,
with exactly those thresholds, and leaves registers that track the reference. -/
theorem compile_track (d : Deps Q) (hd : d.Valid) (ω : Control) (e : E) (s : Program E Q) :
    ∀ (v : List Nat) (pre : List (Instance E Q)) (ρ : Registers Q) (st : Gaps Q), Tracks d pre ρ → GapsHold d pre st →
      (run ω e (compileFrom d e s st) v ρ).1 = effectsFrom d e pre (unroll ω s v) ∧
      Tracks d (pre ++ unroll ω s v) (run ω e (compileFrom d e s st) v ρ).2 := by
  induction s with
  | skip => intro v pre ρ st hT _; exact ⟨rfl, by simpa [unroll, compileFrom, run] using hT⟩
  | instr i a q =>
    intro v pre ρ st hT hG
    obtain ⟨ht1, ht2⟩ := tracks_pass ω e hT ⟨i, a, q, v⟩
    simp only at ht1 ht2
    by_cases h : a = e
    · subst h
      have hn := run_compileNeeds ω a hT hG (d.needs i) v (hd i)
      constructor
      · simp [compileFrom, run, unroll, effectsFrom, hn, ht1]
      · simpa [compileFrom, run, unroll, hn] using ht2
    · constructor
      · simp [compileFrom, run, unroll, effectsFrom, h, ht1]
      · simpa [compileFrom, run, unroll, h] using ht2
  | seq a b iha ihb =>
    intro v pre ρ st hT hG
    obtain ⟨h1, h2⟩ := iha v pre ρ st hT hG
    obtain ⟨h3, h4⟩ := ihb v _ _ (Gaps.after d a st) h2 (gapsHold_after ω a v pre st hG)
    constructor
    · simp only [compileFrom, run, unroll, effectsFrom_append, h1, h3]
    · simpa only [compileFrom, run, unroll, ← List.append_assoc] using h4
  | branch k a b iha ihb =>
    intro v pre ρ st hT hG
    simp only [compileFrom, run, unroll]
    split
    · exact ihb v pre ρ st hT hG
    · exact iha v pre ρ st hT hG
  | loop k s ih =>
    intro v pre ρ st hT hG
    refine iterate_track (fun pre => GapsHold d pre (st.forget s)) ?_ _ _ pre ρ hT (gapsHold_forget s hG)
    intro j pre ρ hT hP
    obtain ⟨h1, h2⟩ := ih (j :: v) pre ρ (st.forget s) hT hP
    exact ⟨h1, h2, gapsHold_forget_append hP (fun q hq => signals_of_not_signalsOn ω q s hq _)⟩

/-! ## The thresholds are the required ones -/

theorem group_waits (l : List (Need Q)) (f : Need Q → Nat) (ws : List (Q × Nat)) (r : List (Effect E Q)) :
    group ws (l.map (fun n => Effect.wait n.counter (f n)) ++ r) =
      group ((l.map (fun n => (n.counter, f n))).reverse ++ ws) r := by
  induction l generalizing ws with
  | nil => rfl
  | cons n t ih => simp [group, ih]

theorem threshold_needs (d : Deps Q) (pre : List (Instance E Q)) (c : Instance E Q) (q : Q) :
    threshold ((d.needs c.instr).map (fun n =>
      (n.counter, lastPosition n.counter (d.touched n.key (n.slot.eval c.iteration)) pre))).reverse q
      = required d.rel pre c q := by
  have key : ∀ k, threshold ((d.needs c.instr).map (fun n =>
      (n.counter, lastPosition n.counter (d.touched n.key (n.slot.eval c.iteration)) pre))).reverse q ≤ k ↔
      required d.rel pre c q ≤ k := by
    intro k
    rw [threshold_le_iff, required, lastPosition_le_iff]
    constructor
    · intro h a p b hp he hq
      simp only [Deps.rel, List.any_eq_true, Bool.and_eq_true, decide_eq_true_eq] at hq
      obtain ⟨n, hn, h1, h2⟩ := hq
      have hnq : n.counter = q := by rw [he] at h1; exact (Option.some.inj h1).symm
      have := h (n.counter, lastPosition n.counter (d.touched n.key (n.slot.eval c.iteration)) pre)
        (by simp only [List.mem_reverse, List.mem_map]; exact ⟨n, hn, rfl⟩) hnq
      simp only at this
      rw [hnq] at this
      exact (lastPosition_le_iff _ _ _ _).mp this a p b hp he h2
    · intro h x hx hq
      simp only [List.mem_reverse, List.mem_map] at hx
      obtain ⟨n, hn, rfl⟩ := hx
      simp only at hq ⊢
      rw [lastPosition_le_iff]
      intro a p b hp he ht
      have := h a p b hp (by rw [he, hq]) (by
        simp only [Deps.rel, List.any_eq_true, Bool.and_eq_true, decide_eq_true_eq]
        exact ⟨n, hn, he, ht⟩)
      rw [hq]; exact this
  exact Nat.le_antisymm ((key _).mpr (Nat.le_refl _)) ((key _).mp (Nat.le_refl _))

theorem group_effectsFrom (d : Deps Q) (e : E) (l pre : List (Instance E Q)) :
    group [] (effectsFrom d e pre l) = requiredFrom d.rel e pre l := by
  induction l generalizing pre with
  | nil => rfl
  | cons c t ih =>
    simp only [effectsFrom, requiredFrom]
    split
    · simp only [List.append_assoc]
      rw [group_waits]
      simp only [List.append_nil, List.cons_append, List.nil_append, group, ih, List.cons.injEq,
        Prod.mk.injEq, and_true, true_and]
      funext q
      exact threshold_needs d pre c q
    · simpa using ih _

theorem tracks_zero (d : Deps Q) : Tracks (E := E) d [] (.zero : Registers Q) := ⟨fun _ => rfl, fun _ _ _ => rfl⟩
theorem gapsHold_none (d : Deps Q) (pre : List (Instance E Q)) : GapsHold d pre (fun _ _ => none) := by
  intro q p k h; simp at h

/-- The thresholds of the compiled code are exactly the required ones, in every run. -/
theorem stream_compile (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) :
    (fun e => stream ω e (compile d e P)) = requiredStreams d.rel (unroll ω P []) := by
  funext e
  have := (compile_track d hd ω e P [] [] .zero _ (tracks_zero d) (gapsHold_none d [])).1
  rw [stream, compile, this, group_effectsFrom]
  rfl

/-- Under every control behaviour, the machine in which every engine runs its compiled code on private registers is
weakly bisimilar to the specification machine. -/
theorem compile_bisim (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) :
    Bisimilar (Machine ω (fun e => compile d e P)) (Spec d.rel (unroll ω P [])) := by
  refine (machine_bisim_guarded ω _).trans (Bisimilar.symm ?_)
  rw [stream_compile d hd]
  exact spec_bisim_guarded d.rel (unroll ω P [])

end Headway
end
