// Targets that act as an etcd server: the bytes are its output.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// The server's bytes on a connection with two running calls: a read and a watch.
void etcd_channel(std::string_view bytes);
// The response message to a request of the store; the first byte selects the request.
void etcd_answers(std::string_view bytes);

// A server that responds to both, and one that disconnects.
std::string etcd_channel_seed();
std::string etcd_leaving_seed();
// Responses to a request: 0 range, 1 write, 2 compaction, 3 lease.
std::string etcd_answer_seed(char kind);

}  // namespace backplane::fuzz
