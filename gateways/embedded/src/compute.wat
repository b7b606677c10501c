;; A chain of xorshift steps, each of which needs the one before it: work that a compiler turns into
;; a handful of instructions and an interpreter into a loop over them.
(module
  (func (export "chain") (param $steps i32) (result i32)
    (local $x i32)
    (local.set $x (i32.const 2463534242))
    (loop $again
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 13))))
      (local.set $x (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 17))))
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 5))))
      (local.set $steps (i32.sub (local.get $steps) (i32.const 1)))
      (br_if $again (local.get $steps)))
    (local.get $x)))
