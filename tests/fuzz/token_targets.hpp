// Targets of JSON Web Tokens, key sets and PEM keys.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// The first line of the bytes is a token; the rest is a JSON Web Key Set.
void json_web_tokens(std::string_view bytes);
std::string json_web_token_seed();

// The bytes are PEM blocks.
void pem_keys(std::string_view bytes);
std::string pem_key_seed();

}  // namespace backplane::fuzz
