// Threads add terms to one sum, which a lock of java.util.concurrent guards. Planted: each computes its term under the lock. Cured:
// only the addition is under it.
import java.util.concurrent.locks.ReentrantLock;

class held_reentrant_lock {
    static final int THREADS = 3, TERMS = 3000, STEPS = 200_000;
    static final boolean CURED = System.getenv("CURED") != null;
    static final ReentrantLock lock = new ReentrantLock();
    static double sum;

    static double termOf(int term) {
        double value = term;
        for (int step = 0; step < STEPS; step++)
            value = value * 0.999 + Math.sqrt(value + step);
        return Math.floor(value);
    }

    static void addTerms(int first) {
        for (int term = first; term < TERMS; term += THREADS) {
            final double early = CURED ? termOf(term) : 0;
            lock.lock(); // planted: monitor-wait
            try {
                sum += CURED ? early : termOf(term);
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int term = 0; term < 100; term++) // compiled before the threads begin
            sum += 0 * termOf(term);
        final Thread[] threads = new Thread[THREADS];
        for (int thread = 0; thread < THREADS; thread++) {
            final int first = thread;
            threads[thread] = new Thread(() -> addTerms(first), "adder-" + first);
            threads[thread].start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.printf("%.0f%n", sum);
    }
}
