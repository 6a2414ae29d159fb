// The end of a remote command: the error stream's text, and the metav1.Status for the client.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::core {

// Of the error stream of a protocol ("v4.channel.k8s.io"; empty: the first one), all of it: the JSON of a Status.
std::string final_status(std::string_view protocol, std::string_view text);
// Of what kept the command from running, or from being seen.
std::string failed_status(std::string_view why);

// The text of an answer that refuses an upgrade: a Status's message, an "error" member, or all of it.
std::string refusal_text(std::string_view body);

}  // namespace backplane::core
