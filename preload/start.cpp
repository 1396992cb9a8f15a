// Where the shim wakes up: the loader calls this once in every process it was preloaded into.
namespace {
__attribute__((constructor)) void start() {}
} // namespace
