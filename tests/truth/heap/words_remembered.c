/* Finds the shortest form of words and remembers it by word. Planted: the table of known words only ever grows, although hardly
   any word comes twice. Cured: a word takes the place of another with the same slot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 15, REQUESTS = 450000 };

struct known {
    struct known* next;
    unsigned long key;
    char form[480];
};
static struct known* g_table[SLOTS];

static void shorten(unsigned long key, char* form) {
    unsigned long state = key;
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < 480; i++) {
            state = state * 6364136223846793005UL + 1442695040888963407UL;
            form[i] = (char)('a' + (state >> 40) % 26);
        }
    form[479] = 0;
}

static const char* form_of(unsigned long key) {
    struct known** slot = &g_table[key * 11400714819323198485UL >> 49];
    for (struct known* known = *slot; known; known = known->next)
        if (known->key == key)
            return known->form;
#ifdef CURED
    if (*slot) {
        (*slot)->key = key;
        shorten(key, (*slot)->form);
        return (*slot)->form;
    }
#endif
    struct known* known = malloc(sizeof(*known)); /* planted: heap-leak */
    known->key = key;
    shorten(key, known->form);
    known->next = *slot;
    *slot = known;
    return known->form;
}

int main(void) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < REQUESTS; i++)
        sum += (unsigned char)form_of(i % 9 ? i * 7 : i)[i % 479];
    printf("%lu\n", sum);
    return 0;
}
