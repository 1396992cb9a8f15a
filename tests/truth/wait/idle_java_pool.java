// A pool of threads is handed one task after the other, each once the result of the one before is there. The first thread computes
// most of the time, and the pool waits for work.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class idle_java_pool {
    static double termOf(int term, int steps) {
        double value = term;
        for (int step = 0; step < steps; step++)
            value = value * 0.999 + Math.sqrt(value + step);
        return Math.floor(value);
    }

    public static void main(String[] arguments) throws Exception {
        final ExecutorService pool = Executors.newFixedThreadPool(4);
        double sum = 0;
        for (int round = 0; round < 400; round++) {
            final int term = round;
            sum += pool.submit(() -> termOf(term, 10_000)).get();
            sum += termOf(round, 1_200_000);
        }
        pool.shutdown();
        System.out.printf("%.0f%n", sum);
    }
}
