/* Linked as libraries to whose call-frame information no table leads: see test_stack_unwinder.cpp. */
int PLUMB_FUNCTION(int depth, int (*function)(int));

int PLUMB_FUNCTION(int depth, int (*function)(int)) {
    volatile char room[72];
    room[depth % 72] = (char)depth;
    return (depth == 0 ? function(depth) : PLUMB_FUNCTION(depth - 1, function)) + room[depth % 72];
}
