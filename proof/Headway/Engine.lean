module
public import Headway.Guarded
public import Headway.Slot
@[expose] public noncomputable section

/-!
# Engine programs, the machine that runs them, and what they amount to

* `Code`: the synchronized program of one engine. It counts signals in shadows, saves shadows in captures, waits, and issues the
  engine's own instructions and the transfers of the queues that it hosts. A queue has no sequencer: its waits are waits of its host.
* `Machine ω code`: every engine runs its own code on private registers. Each wait is a step of its own that blocks until its
  semaphore has reached the threshold; a completed instruction adds one to its counter's semaphore.
* `stream`: the instances that a code issues in a run, each with its thresholds.
* `machine_bisim_guarded`: for ANY code the machine is bisimilar to the guarded machine of the streams, so that everything about an
  algorithm can be said about streams.
-/

set_option autoImplicit false

namespace Headway

variable {E Q : Type} [DecidableEq E] [DecidableEq Q]

/-- The private registers of one engine: a shadow per counter, a capture per counter, key and slot. -/
structure Registers (Q : Type) where
  shadow : Q → Nat
  capture : Q → Nat → Nat → Nat

def Registers.zero {Q : Type} : Registers Q := ⟨fun _ => 0, fun _ _ _ => 0⟩
def Registers.add (ρ : Registers Q) (q : Q) (k : Nat) : Registers Q := ⟨update ρ.shadow q (ρ.shadow q + k), ρ.capture⟩
/-- `capture[q, key, s] := shadow[q]`. -/
def Registers.save (ρ : Registers Q) (q : Q) (key s : Nat) : Registers Q :=
  ⟨ρ.shadow, fun p k t => if p = q ∧ k = key ∧ t = s then ρ.shadow q else ρ.capture p k t⟩

/-- The synchronized program of one engine. -/
inductive Code (Q : Type) where
  | nop
  | count (q : Q) (k : Nat)                              -- shadow[q] += k
  | countTrip (q : Q) (k site : Nat)                     -- shadow[q] += k * trip count of the loop `site`
  | capture (q : Q) (key : Nat) (slot : Slot)            -- capture[q, key, slot] := shadow[q]
  | waitCapture (q : Q) (key : Nat) (slot : Slot)        -- wait until semaphore q >= capture[q, key, slot]
  | waitShadow (q : Q) (k : Nat)                         -- wait until semaphore q >= shadow[q] - k
  | issue (i : Nat) (q : Option Q)                       -- issue instruction i, which will signal q
  | seq (a b : Code Q)
  | branch (site : Nat) (a b : Code Q)
  | loop (site : Nat) (body : Code Q)

/-- What others can notice of one engine's code. -/
inductive Effect (E Q : Type) where
  | wait (q : Q) (n : Nat)
  | issue (c : Instance E Q)

/-! ## What a code does, big step -/

def iterateCode (f : Nat → Registers Q → List (Effect E Q) × Registers Q) :
    Nat → Nat → Registers Q → List (Effect E Q) × Registers Q
  | 0, _, ρ => ([], ρ)
  | n + 1, j, ρ => ((f j ρ).1 ++ (iterateCode f n (j + 1) (f j ρ).2).1, (iterateCode f n (j + 1) (f j ρ).2).2)

/-- The effects of a code in iteration `v`, and the registers after it. -/
def run (ω : Control) (e : E) : Code Q → List Nat → Registers Q → List (Effect E Q) × Registers Q
  | .nop, _, ρ => ([], ρ)
  | .count q k, _, ρ => ([], ρ.add q k)
  | .countTrip q k site, v, ρ => ([], ρ.add q (k * ω site v))
  | .capture q key slot, v, ρ => ([], ρ.save q key (slot.eval v))
  | .waitCapture q key slot, v, ρ => ([.wait q (ρ.capture q key (slot.eval v))], ρ)
  | .waitShadow q k, _, ρ => ([.wait q (ρ.shadow q - k)], ρ)
  | .issue i q, v, ρ => ([.issue ⟨i, e, q, v⟩], ρ)
  | .seq a b, v, ρ => ((run ω e a v ρ).1 ++ (run ω e b v (run ω e a v ρ).2).1, (run ω e b v (run ω e a v ρ).2).2)
  | .branch k a b, v, ρ => if ω k v = 0 then run ω e b v ρ else run ω e a v ρ
  | .loop k b, v, ρ => iterateCode (fun j => run ω e b (j :: v)) (ω k v) 0 ρ

/-! ## The sequencer, small step -/

inductive Frame (Q : Type) where
  | code (c : Code Q) (v : List Nat)
  | rest (b : Code Q) (v : List Nat) (n j : Nat)   -- `n` iterations left, the next one is number `j`

inductive Action (E Q : Type) where
  | stop
  | silent (K : List (Frame Q)) (ρ : Registers Q)
  | wait (q : Q) (n : Nat) (K : List (Frame Q)) (ρ : Registers Q)
  | issue (c : Instance E Q) (K : List (Frame Q)) (ρ : Registers Q)

/-- What the sequencer of engine `e` does next. -/
def act (ω : Control) (e : E) : List (Frame Q) → Registers Q → Action E Q
  | [], _ => .stop
  | .rest _ _ 0 _ :: K, ρ => .silent K ρ
  | .rest b v (n + 1) j :: K, ρ => .silent (.code b (j :: v) :: .rest b v n (j + 1) :: K) ρ
  | .code .nop _ :: K, ρ => .silent K ρ
  | .code (.count q k) _ :: K, ρ => .silent K (ρ.add q k)
  | .code (.countTrip q k site) v :: K, ρ => .silent K (ρ.add q (k * ω site v))
  | .code (.capture q key slot) v :: K, ρ => .silent K (ρ.save q key (slot.eval v))
  | .code (.waitCapture q key slot) v :: K, ρ => .wait q (ρ.capture q key (slot.eval v)) K ρ
  | .code (.waitShadow q k) _ :: K, ρ => .wait q (ρ.shadow q - k) K ρ
  | .code (.issue i q) v :: K, ρ => .issue ⟨i, e, q, v⟩ K ρ
  | .code (.seq a b) v :: K, ρ => .silent (.code a v :: .code b v :: K) ρ
  | .code (.branch k a b) v :: K, ρ => .silent (.code (if ω k v = 0 then b else a) v :: K) ρ
  | .code (.loop k b) v :: K, ρ => .silent (.rest b v (ω k v) 0 :: K) ρ

/-! ## The machine -/

structure MachineState (E Q : Type) where
  frames : E → List (Frame Q)
  registers : E → Registers Q
  semaphore : Q → Nat
  /-- Issued, not yet completed. -/
  pending : Q → Nat

def MachineState.set (s : MachineState E Q) (e : E) (K : List (Frame Q)) (ρ : Registers Q) : MachineState E Q :=
  ⟨update s.frames e K, update s.registers e ρ, s.semaphore, s.pending⟩

inductive MachineStep (ω : Control) : MachineState E Q → Option (Event E Q) → MachineState E Q → Prop
  | silent {s} (e K ρ) (h : act ω e (s.frames e) (s.registers e) = .silent K ρ) : MachineStep ω s none (s.set e K ρ)
  | wait {s} (e q n K ρ) (h : act ω e (s.frames e) (s.registers e) = .wait q n K ρ) (hs : n ≤ s.semaphore q) :
      MachineStep ω s none (s.set e K ρ)
  | issue {s} (e c K ρ) (h : act ω e (s.frames e) (s.registers e) = .issue c K ρ) :
      MachineStep ω s (some (.issue c)) { s.set e K ρ with pending := start s.pending c.counter }
  | complete {s} (q) (h : 0 < s.pending q) : MachineStep ω s (some (.complete q))
      { s with pending := update s.pending q (s.pending q - 1), semaphore := increment s.semaphore q }

def MachineState.init (code : E → Code Q) : MachineState E Q :=
  ⟨fun e => [.code (code e) []], fun _ => .zero, fun _ => 0, fun _ => 0⟩

/-- Each engine `e` runs `code e`; semaphores count completions. -/
def Machine (ω : Control) (code : E → Code Q) : LTS (Event E Q) := ⟨MachineState E Q, MachineStep ω, .init code⟩

/-! ## The stream of a code -/

/-- The threshold that a list of waits imposes on counter `p`. -/
def threshold : List (Q × Nat) → Q → Nat
  | [], _ => 0
  | (q, n) :: t, p => if q = p then max n (threshold t p) else threshold t p

/-- Collect the waits in front of each issue. -/
def group : List (Q × Nat) → List (Effect E Q) → Stream E Q
  | _, [] => []
  | ws, .wait q n :: t => group ((q, n) :: ws) t
  | ws, .issue c :: t => (c, threshold ws) :: group [] t

/-- The instances that a code issues in a run, each with its thresholds. -/
def stream (ω : Control) (e : E) (c : Code Q) : Stream E Q := group [] (run ω e c [] .zero).1

theorem threshold_le_iff (ws : List (Q × Nat)) (p : Q) (k : Nat) :
    threshold ws p ≤ k ↔ ∀ x ∈ ws, x.1 = p → x.2 ≤ k := by
  induction ws with
  | nil => simp [threshold]
  | cons x t ih =>
    obtain ⟨q, n⟩ := x
    simp only [threshold, List.mem_cons, forall_eq_or_imp]
    split
    · rename_i h; simp only [h, forall_const, ← ih]; omega
    · rename_i h; simpa [h] using ih

theorem threshold_cons_ge (q : Q) (n : Nat) (ws : List (Q × Nat)) (p : Q) :
    threshold ws p ≤ threshold ((q, n) :: ws) p := by
  simp only [threshold]; split <;> omega

theorem group_head_ge {ws : List (Q × Nat)} {l : List (Effect E Q)} {c : Instance E Q} {g : Q → Nat}
    {rest : Stream E Q} (h : group ws l = (c, g) :: rest) (p : Q) : threshold ws p ≤ g p := by
  induction l generalizing ws with
  | nil => simp [group] at h
  | cons x t ih =>
    cases x with
    | wait q n =>
      have := ih (ws := (q, n) :: ws) (by simpa [group] using h)
      exact Nat.le_trans (threshold_cons_ge q n ws p) this
    | issue c' =>
      simp [group] at h
      rw [← h.1.2]; omega

/-! ## Silent steps end -/

def weightIterate (f : Nat → Nat) : Nat → Nat → Nat
  | 0, _ => 0
  | n + 1, j => f j + 1 + weightIterate f n (j + 1)

def weight (ω : Control) : Code Q → List Nat → Nat
  | .seq a b, v => 1 + weight ω a v + weight ω b v
  | .branch k a b, v => 1 + (if ω k v = 0 then weight ω b v else weight ω a v)
  | .loop k b, v => 2 + weightIterate (fun j => weight ω b (j :: v)) (ω k v) 0
  | _, _ => 1

def weightFrame (ω : Control) : Frame Q → Nat
  | .code c v => weight ω c v
  | .rest b v n j => 1 + weightIterate (fun j => weight ω b (j :: v)) n j

/-- An upper bound of the steps that a sequencer still has to do. -/
def weightFrames (ω : Control) : List (Frame Q) → Nat
  | [] => 0
  | f :: K => weightFrame ω f + weightFrames ω K

/-- Every action of a sequencer makes its weight smaller. -/
theorem weight_act (ω : Control) (e : E) (K : List (Frame Q)) (ρ : Registers Q) :
    match act ω e K ρ with
      | .stop => K = []
      | .silent K' _ => weightFrames ω K' < weightFrames ω K
      | .wait _ _ K' _ => weightFrames ω K' < weightFrames ω K
      | .issue _ K' _ => weightFrames ω K' < weightFrames ω K := by
  cases K with
  | nil => rfl
  | cons f K =>
    cases f with
    | rest b v n j => cases n <;> simp [act, weightFrames, weightFrame, weightIterate] <;> omega
    | code c v =>
      cases c <;> simp [act, weightFrames, weightFrame, weight] <;> try omega
      case branch => split <;> omega

/-! ## The machine is the guarded machine of its streams -/

def runFrame (ω : Control) (e : E) : Frame Q → Registers Q → List (Effect E Q) × Registers Q
  | .code c v, ρ => run ω e c v ρ
  | .rest b v n j, ρ => iterateCode (fun j => run ω e b (j :: v)) n j ρ

/-- The effects still to come. -/
def runFrames (ω : Control) (e : E) : List (Frame Q) → Registers Q → List (Effect E Q)
  | [], _ => []
  | f :: K, ρ => (runFrame ω e f ρ).1 ++ runFrames ω e K (runFrame ω e f ρ).2

theorem runFrames_act (ω : Control) (e : E) (K : List (Frame Q)) (ρ : Registers Q) :
    runFrames ω e K ρ = match act ω e K ρ with
      | .stop => []
      | .silent K' ρ' => runFrames ω e K' ρ'
      | .wait q n K' ρ' => .wait q n :: runFrames ω e K' ρ'
      | .issue c K' ρ' => .issue c :: runFrames ω e K' ρ' := by
  cases K with
  | nil => rfl
  | cons f K =>
    cases f with
    | rest b v n j => cases n <;> simp [act, runFrames, runFrame, iterateCode]
    | code c v =>
      cases c <;> simp [act, runFrames, runFrame, run]
      case branch => split <;> rfl

theorem act_issue_engine {ω : Control} {e : E} {K K' : List (Frame Q)} {ρ ρ' : Registers Q} {c : Instance E Q}
    (h : act ω e K ρ = .issue c K' ρ') : c.engine = e := by
  cases K with
  | nil => simp [act] at h
  | cons f K =>
    cases f with
    | rest b v n j => cases n <;> simp [act] at h
    | code d v => cases d <;> simp [act] at h; rw [← h.1]

/-- The bisimulation: completed = semaphores, started = semaphores + pending, and the rest of each stream is what the
frames of the engine will still do, after waits `ws` that have already been passed. -/
def Agrees (ω : Control) (w : E → Stream E Q) (s : MachineState E Q) (t : Counts E Q) : Prop :=
  t.completed = s.semaphore ∧ (∀ q, t.started q = s.semaphore q + s.pending q) ∧
  ∀ e, ∃ ws, (∀ q, threshold ws q ≤ s.semaphore q) ∧
    (w e).drop (t.issued e) = group ws (runFrames ω e (s.frames e) (s.registers e))

theorem agrees_set {ω : Control} {w : E → Stream E Q} {s : MachineState E Q} {t : Counts E Q} (h : Agrees ω w s t)
    (e : E) (K : List (Frame Q)) (ρ : Registers Q)
    (hw : ∃ ws, (∀ q, threshold ws q ≤ s.semaphore q) ∧ (w e).drop (t.issued e) = group ws (runFrames ω e K ρ)) :
    Agrees ω w (s.set e K ρ) t := by
  obtain ⟨h1, h2, h3⟩ := h
  refine ⟨h1, h2, fun e' => ?_⟩
  by_cases he : e' = e
  · subst he
    simpa [MachineState.set] using hw
  · simpa [MachineState.set, update_ne _ _ he] using h3 e'

theorem agrees_silent {ω : Control} {w : E → Stream E Q} {s : MachineState E Q} {t : Counts E Q}
    (h : Agrees ω w s t) {e : E} {K : List (Frame Q)} {ρ : Registers Q}
    (ha : act ω e (s.frames e) (s.registers e) = .silent K ρ) : Agrees ω w (s.set e K ρ) t := by
  refine agrees_set h e K ρ ?_
  obtain ⟨ws, h1, h2⟩ := h.2.2 e
  rw [runFrames_act, ha] at h2
  exact ⟨ws, h1, h2⟩

theorem agrees_wait {ω : Control} {w : E → Stream E Q} {s : MachineState E Q} {t : Counts E Q}
    (h : Agrees ω w s t) {e : E} {q : Q} {n : Nat} {K : List (Frame Q)} {ρ : Registers Q}
    (ha : act ω e (s.frames e) (s.registers e) = .wait q n K ρ) (hs : n ≤ s.semaphore q) :
    Agrees ω w (s.set e K ρ) t := by
  refine agrees_set h e K ρ ?_
  obtain ⟨ws, h1, h2⟩ := h.2.2 e
  rw [runFrames_act, ha] at h2
  refine ⟨(q, n) :: ws, ?_, by simpa [group] using h2⟩
  intro p
  have := h1 p
  simp only [threshold]
  split
  · rename_i hp; subst hp; omega
  · omega

/-- An engine whose next instance is enabled in the guarded machine reaches it by silent steps. -/
theorem run_to_issue (ω : Control) (code : E → Code Q) (w : E → Stream E Q) (e : E) (t : Counts E Q)
    (c : Instance E Q) (g : Q → Nat) (rest : Stream E Q) (hd : (w e).drop (t.issued e) = (c, g) :: rest)
    (hg : ∀ q, g q ≤ t.completed q) (N : Nat) :
    ∀ s : MachineState E Q, weightFrames ω (s.frames e) ≤ N → Agrees ω w s t →
      ∃ s' K ρ, Taus (Machine ω code) s s' ∧ Agrees ω w s' t ∧
        act ω e (s'.frames e) (s'.registers e) = .issue c K ρ ∧ rest = group [] (runFrames ω e K ρ) := by
  induction N with
  | zero =>
    intro s hN h
    obtain ⟨ws, h1, h2⟩ := h.2.2 e
    have hw := weight_act ω e (s.frames e) (s.registers e)
    rw [runFrames_act, hd] at h2
    cases ha : act ω e (s.frames e) (s.registers e) <;> rw [ha] at hw h2 <;> simp [group] at hw h2
    all_goals omega
  | succ N ih =>
    intro s hN h
    have hw := weight_act ω e (s.frames e) (s.registers e)
    obtain ⟨ws, h1, h2⟩ := h.2.2 e
    rw [runFrames_act, hd] at h2
    cases ha : act ω e (s.frames e) (s.registers e) with
    | stop => rw [ha] at h2; simp [group] at h2
    | silent K ρ =>
      rw [ha] at hw
      simp at hw
      obtain ⟨s', K', ρ', k1, k2⟩ := ih (s.set e K ρ) (by simp [MachineState.set]; omega) (agrees_silent h ha)
      exact ⟨s', K', ρ', .head (MachineStep.silent e K ρ ha) k1, k2⟩
    | wait q n K ρ =>
      rw [ha] at hw h2
      simp at hw
      simp [group] at h2
      have hn : n ≤ s.semaphore q := by
        have h3 := group_head_ge h2.symm q
        have h4 := hg q
        rw [h.1] at h4
        simp [threshold] at h3
        omega
      obtain ⟨s', K', ρ', k1, k2⟩ := ih (s.set e K ρ) (by simp [MachineState.set]; omega) (agrees_wait h ha hn)
      exact ⟨s', K', ρ', .head (MachineStep.wait e q n K ρ ha hn) k1, k2⟩
    | issue c' K ρ =>
      rw [ha] at h2
      simp [group] at h2
      obtain ⟨⟨rfl, _⟩, h2⟩ := h2
      exact ⟨s, K, ρ, .refl _, h, ha, h2⟩

theorem drop_eq_cons {α : Type} {l : List α} {n : Nat} {x : α} (h : l[n]? = some x) :
    l.drop n = x :: l.drop (n + 1) := by
  obtain ⟨hn, rfl⟩ := List.getElem?_eq_some_iff.mp h
  exact List.drop_eq_getElem_cons hn

theorem get_of_drop {α : Type} {l rest : List α} {n : Nat} {x : α} (h : l.drop n = x :: rest) :
    l[n]? = some x ∧ l.drop (n + 1) = rest := by
  constructor
  · have : (l.drop n)[0]? = some x := by simp [h]
    simpa using this
  · have : (l.drop n).drop 1 = rest := by simp [h]
    simpa using this

theorem agrees_issue {ω : Control} {w : E → Stream E Q} {s : MachineState E Q} {t : Counts E Q}
    (h : Agrees ω w s t) {e : E} {c : Instance E Q} (hc : c.engine = e) {K : List (Frame Q)} {ρ : Registers Q}
    (hr : (w e).drop (t.issued e + 1) = group [] (runFrames ω e K ρ)) :
    Agrees ω w { s.set e K ρ with pending := start s.pending c.counter } (t.issue c) := by
  obtain ⟨h1, h2, h3⟩ := h
  refine ⟨h1, fun q => ?_, fun e' => ?_⟩
  · have := h2 q
    simp only [MachineState.set, Counts.issue, start_apply]
    omega
  · by_cases he : e' = e
    · subst he
      subst hc
      exact ⟨[], by simp [threshold], by simpa [MachineState.set, Counts.issue, increment] using hr⟩
    · have : e' ≠ c.engine := by rw [hc]; exact he
      simpa [MachineState.set, Counts.issue, increment, update_ne _ _ he, update_ne _ _ this] using h3 e'

theorem agrees_complete {ω : Control} {w : E → Stream E Q} {s : MachineState E Q} {t : Counts E Q}
    (h : Agrees ω w s t) {q : Q} (hi : 0 < s.pending q) :
    Agrees ω w { s with pending := update s.pending q (s.pending q - 1), semaphore := increment s.semaphore q }
      (t.complete q) := by
  obtain ⟨h1, h2, h3⟩ := h
  refine ⟨by simp [h1, Counts.complete], fun q' => ?_, fun e' => ?_⟩
  · have := h2 q'
    simp only [Counts.complete, increment, update_apply]
    split
    · rename_i he; subst he; omega
    · omega
  · obtain ⟨ws, k1, k2⟩ := h3 e'
    exact ⟨ws, fun q' => Nat.le_trans (k1 q') (le_increment _ _ _), k2⟩

/-- The machine that runs any synchronized program is weakly bisimilar to the guarded machine of its streams. -/
theorem machine_bisim_guarded (ω : Control) (code : E → Code Q) :
    Bisimilar (Machine ω code) (Guarded (fun e => stream ω e (code e))) := by
  refine ⟨Agrees ω (fun e => stream ω e (code e)), ?_, ?_, ?_⟩
  · refine ⟨rfl, fun _ => rfl, fun e => ⟨[], by simp [threshold], ?_⟩⟩
    simp [Machine, MachineState.init, Guarded, Counts.zero, stream, runFrames, runFrame]
  · intro s t r o s' hs
    cases hs with
    | silent e K ρ ha => exact ⟨t, .tau (.refl _), agrees_silent r ha⟩
    | wait e q n K ρ ha hn => exact ⟨t, .tau (.refl _), agrees_wait r ha hn⟩
    | issue e c K ρ ha =>
      have he := act_issue_engine ha
      obtain ⟨ws, h1, h2⟩ := r.2.2 e
      rw [runFrames_act, ha] at h2
      simp only [group] at h2
      obtain ⟨h3, h4⟩ := get_of_drop h2
      refine ⟨_, .of_step (GuardedStep.issue e c (threshold ws) h3 he ?_), agrees_issue r he h4⟩
      intro q; rw [r.1]; exact h1 q
    | complete q hi =>
      refine ⟨_, .of_step (GuardedStep.complete q ?_), agrees_complete r hi⟩
      rw [r.1, r.2.1]; omega
  · intro t s r o t' ht
    cases ht with
    | issue e c g hw he hg =>
      have hd := drop_eq_cons hw
      obtain ⟨s1, K, ρ, k1, k2, k3, k4⟩ := run_to_issue ω code _ e t c g _ hd hg _ s (Nat.le_refl _) r
      exact ⟨_, .vis k1 (MachineStep.issue e c K ρ k3) (.refl _), agrees_issue k2 he k4⟩
    | complete q h =>
      have hi : 0 < s.pending q := by rw [r.1, r.2.1] at h; omega
      exact ⟨_, .of_step (MachineStep.complete q hi), agrees_complete r hi⟩

end Headway
end
