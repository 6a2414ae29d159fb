// Converts the text of a remote command's error stream to the metav1.Status for the client.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::core {

// Converts the whole text of the error stream of a protocol ("v4.channel.k8s.io"; empty: the first version) to the JSON of a Status.
std::string final_status(std::string_view protocol, std::string_view text);
// The Status for an error that prevented the command, or the reading of its output.
std::string failed_status(std::string_view why);

// The message of a response that refuses an upgrade: a Status's message, an "error" member, or the whole text.
std::string refusal_text(std::string_view body);

}  // namespace backplane::core
