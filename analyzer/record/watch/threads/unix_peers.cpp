#include "record/watch/threads/unix_peers.h"

#include <array>
#include <cstring>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr size_t kMostReplies = 256; // of up to 16 KiB: a machine with more sockets is left in part
constexpr time_t kPatience_us = 20'000;

struct Request {
    nlmsghdr header;
    unix_diag_req body;
};

bool ask(int socket) {
    Request request{};
    request.header = {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
    request.body.sdiag_family = AF_UNIX;
    request.body.udiag_states = UINT32_MAX;
    request.body.udiag_show = UDIAG_SHOW_PEER;
    return send(socket, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request);
}

void take(const nlmsghdr* header, std::unordered_map<uint64_t, uint64_t>& peers) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg)))
        return;
    const auto* message = static_cast<const unix_diag_msg*>(NLMSG_DATA(header));
    auto left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *message));
    const auto* attribute = reinterpret_cast<const rtattr*>(message + 1);
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= sizeof(uint32_t)) {
            uint32_t peer;
            std::memcpy(&peer, RTA_DATA(attribute), sizeof peer);
            peers[message->udiag_ino] = peer;
            peers[peer] = message->udiag_ino;
        }
}

} // namespace

std::unordered_map<uint64_t, uint64_t> unix_socket_peers() {
    std::unordered_map<uint64_t, uint64_t> peers;
    const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (socket < 0)
        return peers;
    const timeval patience{0, kPatience_us};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    alignas(nlmsghdr) std::array<char, 16 * 1024> reply;
    bool more = ask(socket);
    for (size_t replies = 0; more && replies < kMostReplies; ++replies) {
        const ssize_t got = recv(socket, reply.data(), reply.size(), 0);
        more = got > 0;
        auto left = static_cast<uint32_t>(more ? got : 0);
        for (auto* header = reinterpret_cast<nlmsghdr*>(reply.data()); more && NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
                more = false;
            else
                take(header, peers);
        }
    }
    close(socket);
    return peers;
}

} // namespace plumb::record
