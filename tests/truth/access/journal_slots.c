/* A journal in memory with a slot of one page for each connection; a slot ends with the number of its last entry. Planted:
   a header of 12 bytes stands before the first slot, so that the number lies half in one page and half in the next.
   Cured: the header is padded to 16 bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 4096, SLOTS = 6, ROUNDS = 10000000 };

#ifdef CURED
struct header { uint32_t magic, version, slots, unused; };
#else
struct header { uint32_t magic, version, slots; };
#endif

struct entry { uint32_t kind, length; };

static char* slot_of(char* journal, size_t number) { return journal + sizeof(struct header) + number * SLOT; }

static uint64_t append(char* slot, uint64_t number, uint32_t kind) {
    struct entry* entry = (struct entry*)(void*)(slot + (number % 200) * sizeof(struct entry));
    entry->kind = kind;
    entry->length = (uint32_t)(number & 255);
    uint64_t* last = (uint64_t*)(void*)(slot + SLOT - 16);
    *last = number; /* planted: line-split-access */
    return entry->length;
}

int main(void) {
    char* journal = aligned_alloc(SLOT, (SLOTS + 1) * (size_t)SLOT);
    if (!journal)
        return 1;
    memset(journal, 0, (SLOTS + 1) * (size_t)SLOT);
    struct header* header = (struct header*)(void*)journal;
    header->slots = SLOTS;
    uint64_t bytes = 0;
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (size_t number = 0; number < SLOTS; number++)
            bytes += append(slot_of(journal, number), round, (uint32_t)number);
    printf("%lu\n", (unsigned long)bytes);
    free(journal);
    return 0;
}
