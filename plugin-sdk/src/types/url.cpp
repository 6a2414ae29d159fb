#include "backplane/types/url.hpp"

#include "cel/url.hpp"

namespace backplane BACKPLANE_API {

std::string url_problem(std::string_view text) { return cel_detail::url_problem(text); }
std::string request_uri_problem(std::string_view text) { return cel_detail::request_uri_problem(text); }

}  // namespace BACKPLANE_API
