// Writes and reads of a file in a folder, some MiB a round.
#pragma once

#include "platform/private_file.h"
#include "probe/measured.h"

#include <cstdint>
#include <string>

namespace plumb::probe {

class Disk {
  public:
    // The file has no name any more when this returns. Where none can be made, turns.why_not says so, and rounds do nothing.
    explicit Disk(const std::string& folder);

    // Writes kPiece bytes and waits until they are stored, reads as much of what earlier rounds wrote, past the page cache
    // where the file system knows how, and writes and stores kPage bytes.
    void round();

    DiskTurns turns;

  private:
    bool write_piece(uint64_t at, uint64_t bytes);

    static constexpr uint64_t kPiece = 4u << 20, kPieces = 16;
    platform::Descriptor buffered_, direct_;
    uint64_t rounds_ = 0;
    bool is_full_ = false; // the disk: no more rounds
};

} // namespace plumb::probe
