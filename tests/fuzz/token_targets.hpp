// JSON Web Tokens and key sets.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// A token on a line, and a JSON Web Key Set.
void json_web_tokens(std::string_view bytes);
std::string json_web_token_seed();

// PEM blocks.
void pem_keys(std::string_view bytes);
std::string pem_key_seed();

}  // namespace backplane::fuzz
