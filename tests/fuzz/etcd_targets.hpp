// Targets of the etcd store: the bytes are the output of an etcd server.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// The server's bytes on a connection with two running calls: a read and a watch.
void etcd_channel(std::string_view bytes);
// The bytes are the response message to a request of the store; the first byte selects the request.
void etcd_answers(std::string_view bytes);

// Seeds for etcd_channel(): the output of a server that responds to both calls, and of one that disconnects.
std::string etcd_channel_seed();
std::string etcd_leaving_seed();
// A seed for etcd_answers(): the response to a request. `kind`: 0 range, 1 write, 2 compaction, 3 lease.
std::string etcd_answer_seed(char kind);

}  // namespace backplane::fuzz
