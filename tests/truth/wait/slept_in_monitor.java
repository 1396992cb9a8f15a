// Threads write records to a device that takes 4 ms for each. Planted: they wait for it inside of the monitor that guards the list
// of records. Cured: outside.
import java.util.ArrayList;
import java.util.List;

class slept_in_monitor {
    static final int THREADS = 4, RECORDS = 500;
    static final boolean CURED = System.getenv("CURED") != null;
    static final List<Integer> records = new ArrayList<>();

    static void write(int record) {
        try {
            Thread.sleep(4);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    static void writeAll(int first) {
        for (int record = first; record < RECORDS; record += THREADS) {
            if (CURED)
                write(record);
            synchronized (records) { // planted: monitor-wait
                if (!CURED)
                    write(record);
                records.add(record);
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        final Thread[] threads = new Thread[THREADS];
        for (int thread = 0; thread < THREADS; thread++) {
            final int first = thread;
            threads[thread] = new Thread(() -> writeAll(first), "writer-" + first);
            threads[thread].start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println(records.size());
    }
}
