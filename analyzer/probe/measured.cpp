#include "probe/measured.h"

namespace plumb::probe {

const char* name_of(CpuTest test) {
    switch (test) {
    case CpuTest::compute: return "compute";
    case CpuTest::cache: return "cache";
    case CpuTest::latency: return "memory latency";
    case CpuTest::bandwidth: return "memory read";
    case CpuTest::clock: break;
    }
    return "core clock";
}

} // namespace plumb::probe
