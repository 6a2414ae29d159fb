// Targets that are a server of etcd: the bytes are what it says.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// What comes over a connection with two calls under way: a read and a watch.
void etcd_channel(std::string_view bytes);
// The message that answers what the store asks; the first byte says what that is.
void etcd_answers(std::string_view bytes);

// A server that answers both, and one that goes away.
std::string etcd_channel_seed();
std::string etcd_leaving_seed();
// Answers of a kind: 0 reads, 1 writes, 2 compacts, 3 asks for a lease.
std::string etcd_answer_seed(char kind);

}  // namespace backplane::fuzz
