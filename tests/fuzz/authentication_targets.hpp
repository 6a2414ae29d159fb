// Targets of structured authentication: its configuration, and the claims of tokens.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

void authentication_config(std::string_view bytes);
std::string authentication_config_seed();
// The bytes are the payload of a token.
void id_tokens(std::string_view bytes);

}  // namespace backplane::fuzz
