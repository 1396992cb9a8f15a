/* write_file FILE MIB: writes so much to a file, as the job before did, and brings it to the disk. Its pages stay in memory
   as a cache for whoever reads it next, on the node whose CPU wrote them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** arguments) {
    static char block[1 << 20];
    if (count != 3) {
        fprintf(stderr, "usage: write_file FILE MIB\n");
        return 2;
    }
    const int file = open(arguments[1], O_WRONLY | O_CREAT, 0600);
    memset(block, 7, sizeof block);
    for (long mebibytes = atol(arguments[2]); file >= 0 && mebibytes > 0; --mebibytes)
        for (size_t written = 0; written < sizeof block;) {
            const ssize_t more = write(file, block + written, sizeof block - written);
            if (more <= 0) {
                fprintf(stderr, "write_file: %s: %s\n", arguments[1], strerror(errno));
                return 1;
            }
            written += (size_t)more;
        }
    if (file < 0 || fsync(file) != 0) {
        fprintf(stderr, "write_file: %s: %s\n", arguments[1], strerror(errno));
        return 1;
    }
    return 0;
}
