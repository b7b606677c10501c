;; What an access outside of the memory does: `run` writes the number at an address back to it, and returns it. The
;; memory is one page; its last eight bytes are the number 2.
(module
  (memory (export "memory") 1)
  (data (i32.const 65528) "\00\00\00\00\00\00\00\40")
  (func (export "run") (param $address i32) (result f64)
    (f64.store (local.get $address) (f64.load (local.get $address)))
    (f64.load (local.get $address))))
