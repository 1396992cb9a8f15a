#include "record/watch/threads/socket_diagnosis.h"

#include <array>
#include <cstdint>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr size_t kMostReplies = 256; // of up to 16 KiB: a machine with more sockets is left in part
constexpr time_t kPatience_us = 20'000;

} // namespace

void ask_about_sockets(std::span<const std::byte> request, const std::function<void(const nlmsghdr&)>& take) {
    const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (socket < 0)
        return;
    const timeval patience{0, kPatience_us};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    alignas(nlmsghdr) std::array<char, 16 * 1024> reply;
    bool more = send(socket, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size());
    for (size_t replies = 0; more && replies < kMostReplies; ++replies) {
        const ssize_t got = recv(socket, reply.data(), reply.size(), 0);
        more = got > 0;
        auto left = static_cast<uint32_t>(more ? got : 0);
        for (auto* header = reinterpret_cast<nlmsghdr*>(reply.data()); more && NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
                more = false;
            else
                take(*header);
        }
    }
    close(socket);
}

} // namespace plumb::record
