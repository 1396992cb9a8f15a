#include "model/memory_bandwidth.h"

namespace plumb::model {

StreamMix mix_of(const StreamingLoop& loop) {
    StreamMix mix;
    for (const MemoryStream& stream : loop.streams) {
        if (stream.past_caches && !stream.kind.load)
            ++mix.past_caches;
        else if (stream.kind.load && stream.kind.store)
            ++mix.updates;
        else
            ++(stream.kind.load ? mix.loads : mix.stores);
    }
    return mix;
}

} // namespace plumb::model
