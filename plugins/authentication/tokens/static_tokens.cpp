#include "tokens/static_tokens.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <limits>

#include "backplane/kit/watched_file.hpp"
#include "tokens/csv.hpp"

namespace backplane::authentication {
namespace {

// Tokens are looked up by their digest, so the time of a look-up reveals nothing about the tokens in the file.
std::string digest_of(std::string_view token) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

std::vector<std::string> comma_parts(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<StaticTokens>> StaticTokens::from_file(const std::string& path, Logger& logger) {
  auto text = kit::read_bounded_file(path, std::numeric_limits<std::size_t>::max());
  if (!text.ok()) return std::move(text).status();
  return from_text(*text, path, logger);
}

Result<std::shared_ptr<StaticTokens>> StaticTokens::from_text(std::string_view text, const std::string& path, Logger& logger) {
  auto records = read_csv(text);
  if (!records.ok()) return std::move(records).status();
  auto out = std::make_shared<StaticTokens>();
  std::size_t number = 0;
  for (const auto& record : *records) {
    if (record.size() < 3) {
      return bad_request("token file '" + path + "' must have at least 3 columns (token, user name, user uid), found " +
                         std::to_string(record.size()));
    }
    const std::string where = "token file '" + path + "', record number '" + std::to_string(++number) + "'";
    if (record[0].empty()) {
      logger.warn("empty token has been found in " + where);
      continue;
    }
    UserInfo user;
    user.name = record[1];
    user.uid = record[2];
    if (record.size() >= 4) user.groups = comma_parts(record[3]);
    const bool added = out->users_.insert_or_assign(digest_of(record[0]), std::move(user)).second;
    if (!added) logger.warn("duplicate token has been found in " + where);
  }
  return out;
}

Task<AuthenticationResult> StaticTokens::authenticate(std::string token, std::vector<std::string>, TokenNotes&) {
  const auto found = users_.find(digest_of(token));
  if (found == users_.end()) co_return std::optional<AuthenticationResponse>();
  AuthenticationResponse response;
  response.user = found->second;
  co_return std::optional<AuthenticationResponse>(std::move(response));
}

}  // namespace backplane::authentication
