// The review kinds of the group authentication.k8s.io: TokenReview and SelfSubjectReview.
//
// Thread-safety: const; any thread.
// Lifetime:      `tokens` outlives the storage.
// Errors:        400 for a review without a token, 500 if an authenticator has not checked audiences.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/kit/review.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::authentication {

// `api_audiences`: the audiences that a token must have if the review names none.
std::shared_ptr<RestStorage> make_token_reviews(std::shared_ptr<const SchemaSet> schemas, TokenAuthenticator& tokens,
                                                std::vector<std::string> api_audiences);
std::shared_ptr<RestStorage> make_self_subject_reviews(std::shared_ptr<const SchemaSet> schemas);

}  // namespace backplane::authentication
