/* Sorts random keys by a binary tree, again and again. Planted: every node of every tree comes from malloc and goes back
   one by one. Cured: the nodes of a tree lie in one array that is used again. */
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 3000, ROUNDS = 4000 };

struct node {
    struct node *less, *more;
    unsigned key, count;
    double weight[2];
};

static unsigned g_seed = 1;
static unsigned next_key(void) {
    g_seed ^= g_seed << 13, g_seed ^= g_seed >> 17, g_seed ^= g_seed << 5;
    return g_seed;
}

#ifdef CURED
static struct node g_nodes[KEYS];
static size_t g_used;
static struct node* new_node(void) { return &g_nodes[g_used++]; }
#else
static struct node* new_node(void) {
    return malloc(sizeof(struct node)); /* planted: heap-bound */
}
static void end_tree(struct node* node) {
    if (!node)
        return;
    end_tree(node->less);
    end_tree(node->more);
    free(node);
}
#endif

static struct node* insert(struct node* root, unsigned key) {
    struct node** place = &root;
    while (*place) {
        if ((*place)->key == key) {
            (*place)->count++;
            return root;
        }
        place = key < (*place)->key ? &(*place)->less : &(*place)->more;
    }
    *place = new_node(); /* planted: heap-bound */
    **place = (struct node){NULL, NULL, key, 1, {key * 0.5, 1}};
    return root;
}

static double weigh(const struct node* node) {
    return node ? weigh(node->less) + node->weight[0] * node->count + weigh(node->more) : 0;
}

int main(void) {
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct node* root = NULL;
        for (int i = 0; i < KEYS; i++)
            root = insert(root, next_key());
        sum += weigh(root);
#ifdef CURED
        g_used = 0;
#else
        end_tree(root);
#endif
    }
    printf("%g\n", sum);
    return 0;
}
