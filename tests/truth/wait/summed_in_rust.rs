// Threads add terms to one sum. Planted: each computes its term under the lock. Cured (CURED=1): only the addition is under it.
// Rust's Mutex waits by system calls of its own, which no hook of the C library's functions sees.
use std::sync::Mutex;

const THREADS: u64 = 2;
const TERMS: u64 = 700;
const STEPS: u64 = 200_000;

#[inline(never)]
fn term_of(term: u64) -> f64 {
    let mut value = term as f64;
    for step in 0..STEPS {
        value = value * 0.999 + (value + step as f64).sqrt(); // planted: lock-wait
    }
    value.floor()
}

fn add_terms(sum: &Mutex<f64>, first: u64, cured: bool) {
    for term in (first..TERMS).step_by(THREADS as usize) {
        if cured {
            let value = term_of(term);
            *sum.lock().unwrap() += value;
        } else {
            let mut sum = sum.lock().unwrap();
            *sum += term_of(term);
        }
    }
}

fn main() {
    let cured = std::env::var_os("CURED").is_some();
    let sum = Mutex::new(0.0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let sum = &sum;
            scope.spawn(move || add_terms(sum, thread, cured));
        }
    });
    println!("{:.0}", sum.into_inner().unwrap());
}
