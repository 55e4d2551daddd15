module
public import Headway.Compile
@[expose] public noncomputable section

/-!
# Two rewrites of engine code that change no threshold

* `removeDeadCaptures`: drop every capture that no wait reads (`stream_removeDeadCaptures`).
* `skipLoops`: a loop in which an engine only counts becomes `shadow[q] += k * trip count` (`run_skipLoops`).

`optimized` does both; `stream_optimized` says that its thresholds are still exactly the required ones.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-! ## Dead captures -/

/-- Some wait of the code reads a capture of `q` and `key`. -/
def Code.reads (q : Q) (key : Nat) : Code Q → Bool
  | .waitCapture p k _ => decide (p = q) && decide (k = key)
  | .seq a b => a.reads q key || b.reads q key
  | .branch _ a b => a.reads q key || b.reads q key
  | .loop _ b => b.reads q key
  | _ => false

def keepCaptures (live : Q → Nat → Bool) : Code Q → Code Q
  | .capture q key slot => if live q key then .capture q key slot else .nop
  | .seq a b => .seq (keepCaptures live a) (keepCaptures live b)
  | .branch k a b => .branch k (keepCaptures live a) (keepCaptures live b)
  | .loop k b => .loop k (keepCaptures live b)
  | c => c

def removeDeadCaptures (c : Code Q) : Code Q := keepCaptures (fun q key => c.reads q key) c

/-- The registers agree wherever some wait looks. -/
def AgreeOn (live : Q → Nat → Bool) (ρ ρ' : Registers Q) : Prop :=
  ρ.shadow = ρ'.shadow ∧ ∀ q key s, live q key = true → ρ.capture q key s = ρ'.capture q key s

theorem iterateCode_agree {live : Q → Nat → Bool} {f g : Nat → Registers Q → List (Effect E Q) × Registers Q}
    (h : ∀ j ρ ρ', AgreeOn live ρ ρ' → (f j ρ).1 = (g j ρ').1 ∧ AgreeOn live (f j ρ).2 (g j ρ').2) (n : Nat) :
    ∀ j ρ ρ', AgreeOn live ρ ρ' →
      (iterateCode f n j ρ).1 = (iterateCode g n j ρ').1 ∧
      AgreeOn live (iterateCode f n j ρ).2 (iterateCode g n j ρ').2 := by
  induction n with
  | zero => intro j ρ ρ' r; exact ⟨rfl, r⟩
  | succ n ih =>
    intro j ρ ρ' r
    obtain ⟨h1, h2⟩ := h j ρ ρ' r
    obtain ⟨h3, h4⟩ := ih (j + 1) _ _ h2
    exact ⟨by simp only [iterateCode, h1, h3], h4⟩

theorem run_keepCaptures (ω : Control) (e : E) (live : Q → Nat → Bool) (c : Code Q) :
    (∀ q key, c.reads q key = true → live q key = true) → ∀ v ρ ρ', AgreeOn live ρ ρ' →
      (run ω e (keepCaptures live c) v ρ).1 = (run ω e c v ρ').1 ∧
      AgreeOn live (run ω e (keepCaptures live c) v ρ).2 (run ω e c v ρ').2 := by
  induction c with
  | nop => intro _ v ρ ρ' r; exact ⟨rfl, r⟩
  | count q k => intro _ v ρ ρ' r; exact ⟨rfl, by simp [keepCaptures, run, Registers.add, r.1], r.2⟩
  | countTrip q k site => intro _ v ρ ρ' r; exact ⟨rfl, by simp [keepCaptures, run, Registers.add, r.1], r.2⟩
  | capture q key slot =>
    intro _ v ρ ρ' r
    simp only [keepCaptures]
    split
    · refine ⟨rfl, r.1, ?_⟩
      intro p k t hq
      simp only [run, Registers.save, r.1, r.2 p k t hq]
    · rename_i hl
      refine ⟨rfl, r.1, ?_⟩
      intro p k t hq
      simp only [run, Registers.save]
      rw [if_neg]
      · exact r.2 p k t hq
      · rintro ⟨rfl, rfl, _⟩; exact hl hq
  | waitCapture q key slot =>
    intro hu v ρ ρ' r
    have := r.2 q key (slot.eval v) (hu q key (by simp [Code.reads]))
    exact ⟨by simp [keepCaptures, run, this], r⟩
  | waitShadow q k => intro _ v ρ ρ' r; exact ⟨by simp [keepCaptures, run, r.1], r⟩
  | issue i q => intro _ v ρ ρ' r; exact ⟨rfl, r⟩
  | seq a b iha ihb =>
    intro hu v ρ ρ' r
    obtain ⟨h1, h2⟩ := iha (fun q k h => hu q k (by simp [Code.reads, h])) v ρ ρ' r
    obtain ⟨h3, h4⟩ := ihb (fun q k h => hu q k (by simp [Code.reads, h])) v _ _ h2
    exact ⟨by simp only [keepCaptures, run, h1, h3], h4⟩
  | branch k a b iha ihb =>
    intro hu v ρ ρ' r
    simp only [keepCaptures, run]
    split
    · exact ihb (fun q k h => hu q k (by simp [Code.reads, h])) v ρ ρ' r
    · exact iha (fun q k h => hu q k (by simp [Code.reads, h])) v ρ ρ' r
  | loop k b ih =>
    intro hu v ρ ρ' r
    exact iterateCode_agree (f := fun j => run ω e (keepCaptures live b) (j :: v)) (g := fun j => run ω e b (j :: v))
      (fun j ρ ρ' r => ih (fun q k h => hu q k (by simpa [Code.reads] using h)) (j :: v) ρ ρ' r)
      (ω k v) 0 ρ ρ' r

theorem stream_removeDeadCaptures (ω : Control) (e : E) (c : Code Q) :
    stream ω e (removeDeadCaptures c) = stream ω e c := by
  unfold stream removeDeadCaptures
  rw [(run_keepCaptures ω e _ c (fun _ _ h => h) [] .zero .zero ⟨rfl, fun _ _ _ _ => rfl⟩).1]

/-! ## Loops that only count -/

/-- What a code adds to the shadows, if that is all it does and it is the same on every path. -/
def additions : Code Q → Option (List (Q × Nat))
  | .nop => some []
  | .count q k => some [(q, k)]
  | .seq a b =>
    match additions a, additions b with
    | some x, some y => some (x ++ y)
    | _, _ => none
  | .branch _ a b =>
    match additions a, additions b with
    | some x, some y => if x = y then some x else none
    | _, _ => none
  | _ => none

def total (q : Q) : List (Q × Nat) → Nat
  | [] => 0
  | (p, k) :: t => (if p = q then k else 0) + total q t

theorem total_append (q : Q) (x y : List (Q × Nat)) : total q (x ++ y) = total q x + total q y := by
  induction x with
  | nil => simp [total]
  | cons a t ih => simp [total, ih]; omega

def Registers.plus (ρ : Registers Q) (f : Q → Nat) : Registers Q := ⟨fun q => ρ.shadow q + f q, ρ.capture⟩

theorem plus_plus (ρ : Registers Q) (f g : Q → Nat) : (ρ.plus f).plus g = ρ.plus (fun q => f q + g q) := by
  simp [Registers.plus, Nat.add_assoc]
theorem plus_zero (ρ : Registers Q) : ρ.plus (fun _ => 0) = ρ := by simp [Registers.plus]
theorem add_eq_plus (ρ : Registers Q) (q : Q) (k : Nat) : ρ.add q k = ρ.plus (fun p => if q = p then k else 0) := by
  simp only [Registers.add, Registers.plus, Registers.mk.injEq, and_true]
  funext p
  simp only [update_apply]
  by_cases h : p = q
  · subst h; simp
  · simp [h, Ne.symm h]

theorem run_additions (ω : Control) (e : E) (c : Code Q) :
    ∀ l, additions c = some l → ∀ v ρ, run ω e c v ρ = ([], ρ.plus (fun q => total q l)) := by
  induction c with
  | nop => intro l h v ρ; simp [additions] at h; subst h; simp [run, total, plus_zero]
  | count q k => intro l h v ρ; simp [additions] at h; subst h; simp [run, total, add_eq_plus]
  | seq a b iha ihb =>
    intro l h v ρ
    simp only [additions] at h
    split at h
    · rename_i x y hx hy
      simp at h; subst h
      simp [run, iha x hx, ihb y hy, plus_plus, total_append]
    · simp at h
  | branch k a b iha ihb =>
    intro l h v ρ
    simp only [additions] at h
    split at h
    · rename_i x y hx hy
      split at h
      · rename_i hxy
        simp at h; subst h; subst hxy
        simp [run, iha x hx, ihb x hy]
      · simp at h
    · simp at h
  | countTrip | capture | waitCapture | waitShadow | issue | loop => intro l h; simp [additions] at h

def countTrips (site : Nat) : List (Q × Nat) → Code Q
  | [] => .nop
  | (q, k) :: t => .seq (.countTrip q k site) (countTrips site t)

theorem run_countTrips (ω : Control) (e : E) (site : Nat) (l : List (Q × Nat)) (v : List Nat) (ρ : Registers Q) :
    run ω e (countTrips site l) v ρ = ([], ρ.plus (fun q => ω site v * total q l)) := by
  induction l generalizing ρ with
  | nil => simp [countTrips, run, total, plus_zero]
  | cons x t ih =>
    obtain ⟨p, k⟩ := x
    simp only [countTrips, run, ih, add_eq_plus, plus_plus, List.append_nil, Prod.mk.injEq, true_and]
    congr 1
    funext q
    simp only [total, Nat.mul_add]
    split <;> simp [Nat.mul_comm]

theorem iterateCode_plus (f : Nat → Registers Q → List (Effect E Q) × Registers Q) (h : Q → Nat)
    (hf : ∀ j ρ, f j ρ = ([], ρ.plus h)) (n j : Nat) (ρ : Registers Q) :
    iterateCode f n j ρ = ([], ρ.plus (fun q => n * h q)) := by
  induction n generalizing j ρ with
  | zero => simp [iterateCode, plus_zero]
  | succ n ih =>
    simp only [iterateCode, hf, ih, plus_plus, List.append_nil, Prod.mk.injEq, true_and]
    congr 1
    funext q
    rw [Nat.succ_mul, Nat.add_comm]

/-- Replace every loop that only counts, inside out. -/
def skipLoops : Code Q → Code Q
  | .seq a b => .seq (skipLoops a) (skipLoops b)
  | .branch k a b => .branch k (skipLoops a) (skipLoops b)
  | .loop k b =>
    match additions (skipLoops b) with
    | some l => countTrips k l
    | none => .loop k (skipLoops b)
  | c => c

theorem run_skipLoops (ω : Control) (e : E) (c : Code Q) : ∀ v ρ, run ω e (skipLoops c) v ρ = run ω e c v ρ := by
  induction c with
  | nop | count | countTrip | capture | waitCapture | waitShadow | issue => intro v ρ; rfl
  | seq a b iha ihb => intro v ρ; simp only [skipLoops, run, iha, ihb]
  | branch k a b iha ihb => intro v ρ; simp only [skipLoops, run, iha, ihb]
  | loop k b ih =>
    intro v ρ
    have hb : (fun j => run ω e (skipLoops b) (j :: v)) = fun j => run ω e b (j :: v) := by
      funext j ρ; exact ih _ ρ
    simp only [skipLoops]
    split
    · rename_i l hl
      rw [run_countTrips, run, ← hb, iterateCode_plus _ (fun q => total q l)]
      intro j ρ
      exact run_additions ω e _ l hl _ ρ
    · simp only [run, hb]

/-! ## Both -/

def optimized (d : Deps Q) (P : Program E Q) (e : E) : Code Q := skipLoops (removeDeadCaptures (compile d e P))

theorem stream_optimized (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) :
    (fun e => stream ω e (optimized d P e)) = requiredStreams d.rel (unroll ω P []) := by
  rw [← stream_compile d hd ω P]
  funext e
  rw [← stream_removeDeadCaptures ω e (compile d e P)]
  simp only [stream, optimized, run_skipLoops]

theorem optimized_bisim (d : Deps Q) (hd : d.Valid) (ω : Control) (P : Program E Q) :
    Bisimilar (Machine ω (optimized d P)) (Spec d.rel (unroll ω P [])) := by
  refine (machine_bisim_guarded ω _).trans (Bisimilar.symm ?_)
  rw [stream_optimized d hd]
  exact spec_bisim_guarded d.rel (unroll ω P [])

end Headway
end
