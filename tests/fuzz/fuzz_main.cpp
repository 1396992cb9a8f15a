// The entry that libFuzzer calls, for the one target that PLUMB_FUZZ_TARGET names.
#include "target.h"

#define PLUMB_JOINED(a, b) a##b
#define PLUMB_RUN(name) PLUMB_JOINED(run_, name)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    plumb::fuzz::PLUMB_RUN(PLUMB_FUZZ_TARGET)({data, size});
    return 0;
}
