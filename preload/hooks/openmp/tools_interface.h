// The part of OpenMP's interface for tools (OMPT, OpenMP 5.0) that is used here: numbers and signatures as the standard gives them.
#pragma once

#include <stdint.h>

namespace plumb::shim::openmp::ompt {

union Data {
    uint64_t value;
    void* pointer;
};

enum Event : int {
    kParallelBegin = 3,
    kParallelEnd = 4,
    kTaskCreate = 5,
    kImplicitTask = 7,
    kSyncRegion = 23,
    kMutexAcquire = 26,
    kMutexAcquired = 27,
};
enum Endpoint : int { kBegin = 1, kEnd = 2 };
enum SyncKind : int {
    kBarrier = 1,
    kBarrierImplicit = 2,
    kBarrierExplicit = 3,
    kTaskWait = 5,
    kBarrierOfWorksharing = 8, // 5.1
    kBarrierOfParallel = 9,    // 5.1
};
enum MutexKind : int { kLock = 1, kNestLock = 3, kCritical = 5, kOrdered = 7 };
enum TaskFlag : int { kTaskInitial = 1, kTaskExplicit = 4 };

using Callback = void (*)();
using Lookup = Callback (*)(const char* name);
using SetCallback = int (*)(int event, Callback callback);

struct StartResult {
    int (*initialize)(Lookup lookup, int device, Data* tool);
    void (*finalize)(Data* tool);
    Data tool;
};

} // namespace plumb::shim::openmp::ompt
