module
public import Headway.Test.Evaluate
public import Headway.Test.Tie
@[expose] public section

/-!
# The tie, executable: the copies are the same functions

`evaluate_specification` and `evaluate_compiled`: what the interpreter computes for a program and a run is what the specification
requires and what the compiled code waits for. `evaluate_judge`: a placement that it judges to be exact is bisimilar to the
specification.
-/

set_option autoImplicit false

namespace Headway.Evaluate

variable {α β : Type}

/-! ## Lists -/

theorem append_eq (l m : List α) : append l m = l ++ m := by
  induction l with
  | nil => rfl
  | cons x t ih => simp [append, ih]

theorem map_eq (f : α → β) (l : List α) : map f l = l.map f := by
  induction l with
  | nil => rfl
  | cons x t ih => simp [map, ih]

theorem flatMap_eq (f : α → List β) (l : List α) : flatMap f l = l.flatMap f := by
  induction l with
  | nil => rfl
  | cons x t ih => simp [flatMap, append_eq, ih]

theorem any_eq (f : α → Bool) (l : List α) : any f l = l.any f := by
  induction l with
  | nil => rfl
  | cons x t ih => simp [any, ih]

theorem nth_eq (d : α) (l : List α) (n : Nat) : nth d l n = l.getD n d := by
  induction l generalizing n with
  | nil => rfl
  | cons x t ih => cases n <;> simp [nth, ih]

theorem same_iff (l m : List Nat) : same l m = true ↔ l = m := by
  induction l generalizing m with
  | nil => cases m <;> simp [same]
  | cons x t ih => cases m <;> simp [same, ih]

theorem isCounter_iff (c : Option Nat) (q : Nat) : isCounter c q = true ↔ c = some q := by
  cases c <;> simp [isCounter]

/-! ## The reference and what it requires -/

theorem slot_eq (s : Slot) (v : List Nat) : slot s v = s.eval v := by
  have terms : ∀ l, sumTerms v l = Headway.sumTerms v l := by
    intro l
    induction l with
    | nil => rfl
    | cons t l ih => obtain ⟨i, c⟩ := t; simp [sumTerms, Headway.sumTerms, nth_eq, ih]
  cases s <;> simp [slot, Slot.eval, terms]

theorem iterate_eq (f : Nat → List α) (n j : Nat) : iterate f n j = Headway.iterate f n j := by
  induction n generalizing j with
  | zero => rfl
  | succ n ih => simp [iterate, Headway.iterate, append_eq, ih]

theorem unroll_eq (ω : Control) (P : Program Nat Nat) (v : List Nat) : unroll ω P v = Headway.unroll ω P v := by
  induction P generalizing v with
  | skip => rfl
  | instr => rfl
  | seq a b iha ihb => simp [unroll, Headway.unroll, append_eq, iha, ihb]
  | branch k a b iha ihb => simp [unroll, Headway.unroll, iha, ihb]
  | loop k s ih => simp [unroll, Headway.unroll, iterate_eq, ih]

theorem lastPosition_eq (q : Nat) (f : Instance Nat Nat → Bool) (l : List (Instance Nat Nat)) (n m : Nat) :
    lastPosition q f l n m = lastPositionFrom q f l n m := by
  induction l generalizing n m with
  | nil => rfl
  | cons p t ih => simp only [lastPosition, lastPositionFrom, isCounter_iff, ih]

theorem meets_eq (x : Nat × Slot) (v : List Nat) (l : List (Nat × Slot)) (w : List Nat) :
    meets x v l w = (cells l w).contains (x.1, x.2.eval v) := by
  rw [Bool.eq_iff_iff]
  simp only [meets, any_eq, List.any_eq_true, Bool.and_eq_true, decide_eq_true_eq, List.contains_iff_mem, mem_cells, slot_eq]
  exact ⟨fun ⟨y, h, h1, h2⟩ => ⟨y, h, h1.symm, h2.symm⟩, fun ⟨y, h, h1, h2⟩ => ⟨y, h, h1.symm, h2.symm⟩⟩

theorem depends_eq (A : Accesses) : depends A = A.depends := by
  funext p c
  cases h : p.counter <;>
    simp [depends, Accesses.depends, h, conflict, Accesses.conflict, any_eq, meets_eq, cells, List.any_map, Function.comp_def]

theorem stream_eq (D : DepRel Nat Nat) (e : Nat) (pre l : List (Instance Nat Nat)) : stream D e pre l = requiredFrom D e pre l := by
  induction l generalizing pre with
  | nil => rfl
  | cons c t ih =>
    simp only [stream, requiredFrom, append_eq, ih, lastPosition_eq]
    rfl

/-! ## The compiled code -/

theorem counters_eq (P : Program Nat Nat) : counters P = P.counters := by
  induction P with
  | skip => rfl
  | instr i e q => cases q <;> rfl
  | seq a b iha ihb => simp [counters, Program.counters, append_eq, iha, ihb]
  | branch k a b iha ihb => simp [counters, Program.counters, append_eq, iha, ihb]
  | loop k s ih => simp [counters, Program.counters, ih]

theorem scoreboard_eq (A : Accesses) (whole : Nat → Bool) (P : Program Nat Nat) :
    scoreboard A whole P = Headway.scoreboard A whole P := by
  simp only [scoreboard, Headway.scoreboard, append_eq, map_eq, flatMap_eq, counters_eq, writeKey, accessKey, List.append_assoc]

theorem signalsOn_eq (q : Nat) (P : Program Nat Nat) : signalsOn q P = P.signalsOn q := by
  induction P with
  | skip => rfl
  | instr i e p => rw [Bool.eq_iff_iff]; simp [signalsOn, Program.signalsOn, isCounter_iff]
  | seq a b iha ihb => simp [signalsOn, Program.signalsOn, iha, ihb]
  | branch k a b iha ihb => simp [signalsOn, Program.signalsOn, iha, ihb]
  | loop k s ih => simp [signalsOn, Program.signalsOn, ih]

theorem after_eq (d : Deps Nat) (P : Program Nat Nat) (st : Gaps Nat) : after d P st = Gaps.after d P st := by
  induction P generalizing st with
  | skip => rfl
  | instr i e q =>
    funext p k
    simp only [after, Gaps.after, pass, Gaps.pass, isCounter_iff, any_eq, Deps.touchesKey]
    cases st p k <;> rfl
  | seq a b iha ihb => simp [after, Gaps.after, iha, ihb]
  | branch k a b iha ihb =>
    funext p n
    simp only [after, Gaps.after, Gaps.join, iha, ihb]
    cases Gaps.after d a st p n <;> cases Gaps.after d b st p n <;> simp [meet]
  | loop k s ih => funext p n; simp [after, Gaps.after, forget, Gaps.forget, signalsOn_eq]

theorem waits_eq (st : Gaps Nat) (l : List (Need Nat)) : waits st l = compileNeeds st l := by
  induction l with
  | nil => rfl
  | cons n t ih =>
    simp only [waits, compileNeeds, compileNeed, ih]
    cases n.whole <;> cases st n.counter n.key <;> rfl

theorem captures_eq (q : Nat) (l : List (Nat × Slot)) : code.captures q l = captures q l := by
  induction l with
  | nil => rfl
  | cons t l ih => obtain ⟨k, s⟩ := t; simp [code.captures, captures, ih]

theorem code_eq (d : Deps Nat) (e : Nat) (P : Program Nat Nat) (st : Gaps Nat) : code d e P st = compileFrom d e P st := by
  induction P generalizing st with
  | skip => rfl
  | instr i a q => cases q <;> simp [code, compileFrom, passSignal, waits_eq, captures_eq]
  | seq a b iha ihb => simp [code, compileFrom, after_eq, iha, ihb]
  | branch k a b iha ihb => simp [code, compileFrom, iha, ihb]
  | loop k s ih =>
    have : forget s st = st.forget s := by funext p n; simp [forget, Gaps.forget, signalsOn_eq]
    simp [code, compileFrom, ih, this]

theorem empty_eq : empty = .zero := rfl

theorem add_eq (ρ : Registers Nat) (q k : Nat) : add ρ q k = ρ.add q k := rfl

theorem save_eq (ρ : Registers Nat) (q key s : Nat) : save ρ q key s = ρ.save q key s := by
  simp [save, Registers.save]

theorem run_eq (ω : Control) (e : Nat) (c : Code Nat) (v : List Nat) (ρ : Registers Nat) :
    run ω e c v ρ = Headway.run ω e c v ρ := by
  have turns : ∀ f n j ρ, iterateRun f n j ρ = iterateCode f n j ρ := by
    intro f n
    induction n with
    | zero => intro j ρ; rfl
    | succ n ih => intro j ρ; simp [iterateRun, iterateCode, append_eq, ih]
  induction c generalizing v ρ with
  | seq a b iha ihb => simp [run, Headway.run, append_eq, iha, ihb]
  | branch k a b iha ihb => simp [run, Headway.run, iha, ihb]
  | loop k b ih =>
    have same : (fun j => run ω e b (j :: v)) = fun j => Headway.run ω e b (j :: v) := by
      funext j ρ
      exact ih _ _
    simp [run, Headway.run, turns, same]
  | _ => simp [run, Headway.run, add_eq, save_eq, slot_eq]

theorem threshold_eq (ws : List (Nat × Nat)) : threshold ws = Headway.threshold ws := by
  funext p
  induction ws with
  | nil => rfl
  | cons x t ih =>
    obtain ⟨q, n⟩ := x
    simp only [threshold, Headway.threshold, ih]
    split
    · split <;> omega
    · rfl

theorem group_eq (ws : List (Nat × Nat)) (l : List (Effect Nat Nat)) : group ws l = Headway.group ws l := by
  induction l generalizing ws with
  | nil => rfl
  | cons x t ih => cases x <;> simp [group, Headway.group, ih, threshold_eq]

/-! ## The tables -/

theorem ordered_eq (serial : List Nat) (controlReads : List (Nat × Nat)) :
    ordered serial controlReads = Tie.ordered serial controlReads := by
  funext c q
  rw [Bool.eq_iff_iff]
  simp only [ordered, Tie.ordered, any_eq, Bool.or_eq_true, Bool.and_eq_true, List.any_eq_true, List.contains_iff_mem,
    decide_eq_true_eq, isCounter_iff]
  constructor
  · rintro (⟨⟨p, h, rfl⟩, h2⟩ | ⟨⟨a, b⟩, h, rfl, rfl⟩)
    · exact .inl ⟨h, h2⟩
    · exact .inr h
  · rintro (⟨h, h2⟩ | h)
    · exact .inl ⟨⟨q, h, rfl⟩, h2⟩
    · exact .inr ⟨_, h, rfl, rfl⟩

theorem table_eq (order : Instance Nat Nat → Nat → Bool) (counters : List Nat) (s : Stream Nat Nat) :
    table order counters s = Tie.table order counters s := by
  simp [table, Tie.table, map_eq]

theorem accesses_eq (t : List (List (Nat × Slot) × List (Nat × Slot))) : accesses t = Tie.accesses t := by
  simp [accesses, Tie.accesses, nth_eq]

theorem control_eq (t : List (Nat × List Nat × Nat)) : control t = Tie.control t := by
  induction t with
  | nil => rfl
  | cons x t ih =>
    obtain ⟨k, v, n⟩ := x
    funext k' v'
    simp [control, Tie.control, ih, same_iff]

/-- What the interpreter computes is what the specification requires. -/
theorem evaluate_specification : specification = Tie.specification := by
  funext P A ω order engines counters
  simp [specification, Tie.specification, map_eq, table_eq, stream_eq, depends_eq, unroll_eq, requiredStreams]

/-- What the interpreter computes is what the compiled code waits for. -/
theorem evaluate_compiled : compiled = Tie.compiled := by
  funext P A whole ω order engines counters
  have : (fun b => any (fun w => decide (b = w)) whole) = fun b => whole.contains b := by
    funext b
    rw [Bool.eq_iff_iff]
    simp [any_eq]
  simp [compiled, Tie.compiled, map_eq, table_eq, group_eq, run_eq, code_eq, scoreboard_eq, compile, empty_eq, Headway.stream, this]

/-! ## The judge -/

theorem signals_eq (q : Nat) (l : List (Instance Nat Nat)) : signals q l = Headway.signals q l := by
  induction l with
  | nil => rfl
  | cons p t ih =>
    simp only [signals, signals_cons, ih, isCounter_iff]
    split <;> rfl

theorem larger_eq (x y : Nat) : larger x y = max x y := by
  simp only [larger]
  split <;> omega

theorem mem_range (n i q : Nat) : q ∈ range n i ↔ i ≤ q ∧ q < i + n := by
  induction n generalizing i with
  | zero => simp [range]; omega
  | succ n ih => simp only [range, List.mem_cons, ih]; omega

theorem nth_range (f : Nat → Nat) (n i q : Nat) (h : q < n) : nth 0 (map f (range n i)) q = f (i + q) := by
  induction n generalizing i q with
  | zero => omega
  | succ n ih =>
    cases q with
    | zero => rfl
    | succ q =>
      simp only [range, map, nth]
      rw [ih (i + 1) q (by omega)]
      congr 1
      omega

/-- `κ` and `κ'` know the same of the first `n` counters. -/
def Same (n : Nat) (κ κ' : Knowledge Nat Nat) : Prop :=
  ∀ q, q < n → (∀ e, κ.engine e q = κ'.engine e q) ∧ ∀ p, p < n → ∀ j, κ.signal p j q = κ'.signal p j q

theorem seen_eq (signal signal' : Nat → Nat → Nat → Nat) (k k' : Nat → Nat) (q : Nat) (l : List Nat) (h0 : k q = k' q)
    (h : ∀ p ∈ l, signal p (k p) q = signal' p (k' p) q) : seen signal k q l = addSeen l signal' k' q := by
  simp only [addSeen]
  induction l with
  | nil => exact h0
  | cons p t ih => simp only [seen, List.foldr_cons, larger_eq, h p (by simp), ih (fun x hx => h x (by simp [hx]))]

theorem known_eq {n : Nat} {κ κ' : Knowledge Nat Nat} (h : Same n κ κ') (c : Instance Nat Nat) (g : Nat → Nat) (q : Nat)
    (hq : q < n) : nth 0 (known n κ c g) q = knownTo (range n 0) κ' c g q := by
  have before : ∀ p, p < n → nth 0 (map (fun q => larger (κ.engine c.engine q) (g q)) (range n 0)) p =
      max (κ'.engine c.engine p) (g p) := by
    intro p hp
    rw [nth_range _ n 0 p hp, Nat.zero_add, larger_eq, (h p hp).1]
  simp only [known, knownTo]
  rw [nth_range _ n 0 q hq, Nat.zero_add]
  refine seen_eq _ _ _ _ _ _ (before q hq) ?_
  intro p hp
  have hp : p < n := by have := (mem_range n 0 p).mp hp; omega
  rw [before p hp, (h q hq).2 p hp]

theorem same_record {n : Nat} {κ κ' : Knowledge Nat Nat} (h : Same n κ κ') (c : Instance Nat Nat)
    (pre : List (Instance Nat Nat)) (g : Nat → Nat) :
    Same n (record κ c pre (known n κ c g)) (κ'.record c (fun q => Headway.signals q pre) (knownTo (range n 0) κ' c g)) := by
  intro q hq
  have hk := known_eq h c g q hq
  refine ⟨fun e => ?_, fun p hp j => ?_⟩
  · simp only [record, Knowledge.record, update_apply]
    by_cases he : e = c.engine
    · simp only [he, if_true, hk]
    · simp only [he, if_false]
      exact (h q hq).1 e
  · simp only [record, Knowledge.record]
    cases hc : c.counter with
    | none => exact (h q hq).2 p hp j
    | some p' =>
      simp only [update_apply, signals_eq]
      by_cases h1 : p = p'
      · subst h1
        by_cases h2 : j = Headway.signals p pre + 1
        · simp [h2, hk]
        · simp [h2, (h q hq).2 p hp j]
      · simp [h1, (h q hq).2 p hp j]

theorem knowledge_get {n : Nat} (l : Annotated Nat Nat) : ∀ (κ : Knowledge Nat Nat)
    (σ : List (Instance Nat Nat) × Knowledge Nat Nat), Same n κ σ.2 → ∀ i c g, l[i]? = some (c, g) → ∀ q, q < n →
    nth 0 (nth [] (knowledge n σ.1 κ l) i) q = ((l.take (i + 1)).foldl (judgeStep (range n 0)) σ).2.engine c.engine q := by
  induction l with
  | nil => intro κ σ _ i c g h; simp at h
  | cons x t ih =>
    intro κ σ hs i c g hi q hq
    cases i with
    | zero =>
      simp only [List.getElem?_cons_zero, Option.some.injEq] at hi
      subst hi
      simp only [knowledge, nth, List.take_succ_cons, List.take_zero, List.foldl_cons, List.foldl_nil, judgeStep,
        Knowledge.record, update_apply, if_true]
      exact known_eq hs c g q hq
    | succ i =>
      simp only [List.getElem?_cons_succ] at hi
      simp only [knowledge, nth, List.take_succ_cons, List.foldl_cons]
      have := ih _ (judgeStep (range n 0) σ x) (same_record hs x.1 σ.1 x.2) i c g hi q hq
      simpa only [judgeStep, append_eq] using this

theorem below_get {n : Nat} (l : Annotated Nat Nat) : ∀ (k : List (List Nat)), allBelow n l k = true → ∀ i c g,
    l[i]? = some (c, g) → ∀ q, q < n → g q ≤ nth 0 (nth [] k i) q := by
  induction l with
  | nil => intro k _ i c g h; simp at h
  | cons x t ih =>
    intro k h i c g hi q hq
    cases k with
    | nil => simp [allBelow] at h
    | cons k ks =>
      simp only [allBelow, Bool.and_eq_true] at h
      cases i with
      | zero =>
        simp only [List.getElem?_cons_zero, Option.some.injEq] at hi
        subst hi
        have h1 := h.1
        simp only [below, any_eq, Bool.not_eq_true', List.any_eq_false] at h1
        have := h1 q ((mem_range n 0 q).mpr ⟨Nat.zero_le q, by omega⟩)
        simpa using this
      | succ i => exact ih ks h.2 i c g (by simpa using hi) q hq

theorem same_zero (n : Nat) : Same n ⟨fun _ _ => 0, fun _ _ _ => 0⟩ ⟨fun _ _ => 0, fun _ _ _ => 0⟩ :=
  fun _ _ => ⟨fun _ => rfl, fun _ _ _ => rfl⟩

/-- If the interpreter finds `r` below what is known under `l`, then it is. -/
theorem below_known {n : Nat} (r l : Annotated Nat Nat)
    (h : allBelow n r (knowledge n [] ⟨fun _ _ => 0, fun _ _ _ => 0⟩ l) = true) (i : Nat) (c : Instance Nat Nat)
    (g g' : Nat → Nat) (hr : r[i]? = some (c, g)) (hl : l[i]? = some (c, g')) (q : Nat) (hq : q < n) :
    g q ≤ knownAt (range n 0) l i c q := by
  refine Nat.le_trans (below_get r _ h i c g hr q hq) (Nat.le_of_eq ?_)
  exact knowledge_get l _ ([], ⟨fun _ _ => 0, fun _ _ _ => 0⟩) (same_zero n) i c g' hl q hq

theorem withRequired_eq (D : DepRel Nat Nat) (pre T : List (Instance Nat Nat)) :
    withRequired D pre T = Headway.withRequired D pre T := by
  induction T generalizing pre with
  | nil => rfl
  | cons c t ih =>
    simp only [withRequired, Headway.withRequired, append_eq, ih, lastPosition_eq]
    rfl

theorem judged_eq (A : Accesses) (order kept : Instance Nat Nat → Nat → Bool) : judged A order kept =
    either (needsWait (fun q c => order c q) A.depends) (hardwareOrder (fun q c => kept c q)) := by
  funext p c
  have h := congrFun (congrFun (depends_eq A) p) c
  cases hp : p.counter <;>
    simp_all [judged, either, needsWait, hardwareOrder, depends]

theorem annotate_map (n : Nat) (D : DepRel Nat Nat) (T : List (Instance Nat Nat)) : ∀ (pre : List (Instance Nat Nat))
    (rows : List (List Nat)), (annotate n D pre T rows).map Prod.fst = T := by
  induction T with
  | nil => intro pre rows; rfl
  | cons c t ih => intro pre rows; simp [annotate, ih]

theorem annotate_high (n : Nat) (D : DepRel Nat Nat) (T : List (Instance Nat Nat)) : ∀ (pre : List (Instance Nat Nat))
    (rows : List (List Nat)) (i : Nat) (c : Instance Nat Nat) (g : Nat → Nat), (annotate n D pre T rows)[i]? = some (c, g) →
    ∀ q, n ≤ q → g q = 0 := by
  induction T with
  | nil => intro pre rows i c g h; simp [annotate] at h
  | cons c t ih =>
    intro pre rows i c' g h q hq
    cases i with
    | zero =>
      simp only [annotate, List.getElem?_cons_zero, Option.some.injEq, Prod.mk.injEq] at h
      rw [← h.2]
      simp only
      rw [if_neg (by omega)]
    | succ i =>
      simp only [annotate, List.getElem?_cons_succ] at h
      exact ih _ _ i c' g h q hq

/-- What the interpreter judges to be exact is bisimilar to the specification. The dependences are those that need a wait, and the
order that the hardware keeps for engines; the placement has the given thresholds, and those that the hardware keeps. -/
theorem evaluate_judge {host : Nat → Nat} (P : Program Nat Nat) (A : Accesses) (ω : Control)
    (order kept : Instance Nat Nat → Nat → Bool) (n : Nat) (rows : List (List Nat))
    (hh : Hosted host (Headway.unroll ω P [])) (hn : ∀ c ∈ Headway.unroll ω P [], ∀ q, c.counter = some q → q < n)
    (h : judge P A ω order kept n rows = true) :
    Bisimilar (Guarded (streamsOf (annotate n (hardware kept) [] (Headway.unroll ω P []) rows)))
      (Spec (either (needsWait (fun q c => order c q) A.depends) (hardwareOrder (fun q c => kept c q))) (Headway.unroll ω P [])) := by
  simp only [judge, exact, unroll_eq, withRequired_eq, judged_eq, Bool.and_eq_true] at h
  have hm := annotate_map n (hardware kept) (Headway.unroll ω P []) [] rows
  have judged : JudgedExact (range n 0) (Headway.withRequired (either (needsWait (fun q c => order c q) A.depends)
      (hardwareOrder (fun q c => kept c q))) [] (Headway.unroll ω P []))
      (annotate n (hardware kept) [] (Headway.unroll ω P []) rows) := by
    intro i c g g' hr hl q
    by_cases hq : q < n
    · exact ⟨below_known _ _ h.1 i c g g' hr hl q hq, below_known _ _ h.2 i c g' g hl hr q hq⟩
    · have hg := withRequired_get _ [] _ i c g hr
      have zero : g q ≤ 0 := by
        rw [hg]
        refine (lastPosition_le_iff ..).mpr ?_
        intro a p b e hp _
        exfalso
        refine hq (hn p ?_ q hp)
        have : p ∈ (Headway.unroll ω P []).take i := by simp only [List.nil_append] at e; rw [e]; simp
        exact List.mem_of_mem_take this
      rw [Nat.le_zero.mp zero, annotate_high n _ _ _ _ i c g' hl q (by omega)]
      exact ⟨Nat.zero_le _, Nat.zero_le _⟩
  have := judge_exact (host := host) (range n 0) (either (needsWait (fun q c => order c q) A.depends)
    (hardwareOrder (fun q c => kept c q))) (annotate n (hardware kept) [] (Headway.unroll ω P []) rows)
    (by rw [hm]; exact hh) (by rw [hm]; exact judged)
  rwa [hm] at this

end Headway.Evaluate
end
