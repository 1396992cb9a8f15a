/* Cuts a signal into pieces and adds up those that pass. Planted: each piece is a list of cells from malloc, freed again when it
   has been looked at. Cured: the cells of the latest piece are used again. */
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = 1200000, CELLS = 60 };

struct cell {
    struct cell* next;
    double value[4];
};

#ifdef CURED
static struct cell* g_unused;
#endif

static struct cell* take_cell(void) {
#ifdef CURED
    if (g_unused) {
        struct cell* cell = g_unused;
        g_unused = cell->next;
        return cell;
    }
#endif
    return malloc(sizeof(struct cell)); /* planted: heap-bound */
}

static void give_back(struct cell* list) {
    while (list) {
        struct cell* next = list->next;
#ifdef CURED
        list->next = g_unused;
        g_unused = list;
#else
        free(list);
#endif
        list = next;
    }
}

int main(void) {
    double sum = 0, level = 1;
    for (int piece = 0; piece < PIECES; piece++) {
        struct cell* list = NULL;
        for (int i = 0; i < CELLS; i++) {
            struct cell* cell = take_cell(); /* planted: heap-bound */
            level = level * 0.999 + i * 1e-3;
            for (int k = 0; k < 4; k++)
                cell->value[k] = level + k;
            cell->next = list;
            list = cell;
        }
        for (const struct cell* cell = list; cell; cell = cell->next)
            sum += cell->value[0] > 3 ? cell->value[1] * cell->value[2] : cell->value[3];
        give_back(list);
    }
    printf("%g\n", sum);
    return 0;
}
