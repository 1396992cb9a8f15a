// A journal of measurements. Planted: each record is synced to the disk by itself. Cured: a hundred records share one sync.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kRecords = 4000, kTerms = 30000 };
#ifdef CURED
enum { kRecordsPerSync = 100 };
#else
enum { kRecordsPerSync = 1 };
#endif

static int g_synced;

__attribute__((noinline)) static void sync_journal(int journal) {
    if (fsync(journal) != 0) // planted: io-wait
        exit(1);
    g_synced++;
}

int main(void) {
    char name[] = "journal-XXXXXX";
    const int journal = mkstemp(name);
    if (journal < 0)
        return 1;
    double sum = 0;
    for (int record = 0; record < kRecords; record++) {
        double value = 0;
        for (int term = 1; term < kTerms; term++)
            value += sqrt(term + record) / term;
        sum += value;
        if (write(journal, &value, sizeof value) != sizeof value)
            return 1;
        if (record % kRecordsPerSync == kRecordsPerSync - 1)
            sync_journal(journal);
    }
    printf("%.6f\n", sum);
    unlink(name);
    return 0;
}
