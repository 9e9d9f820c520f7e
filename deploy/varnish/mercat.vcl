# A shared cache in front of Mercat, for Varnish 7.1 or newer. Start Varnish with `-p http_gzip_support=off`, so that responses are stored as
# Mercat compressed them. With the default, `on`, every client gets gzip or no compression. Set TRUST_PROXY=true for Mercat.
#
# Only responses of /v1 are cached, and only as long as their Cache-Control says. Varnish takes s-maxage as the lifetime, and
# stale-while-revalidate as the grace.
vcl 4.1;

include "./mercat-query.vcl";

backend mercat {
  .host = "127.0.0.1";
  .port = "8080";
  .connect_timeout = 2s;
  .first_byte_timeout = 30s;
}

sub vcl_recv {
  if (req.url !~ "^/v1(?:[/?]|$)" || (req.method != "GET" && req.method != "HEAD")) {
    return (pass);
  }
  # /v1 does not depend on these headers, and Varnish would not cache requests that have them.
  unset req.http.Authorization;
  unset req.http.Cookie;
  # Clients send many different values of Accept-Encoding that lead to the same response.
  if (req.http.Accept-Encoding ~ "(?i)\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))") {
    set req.http.Accept-Encoding = "br";
  } elseif (req.http.Accept-Encoding ~ "(?i)\bzstd\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))") {
    set req.http.Accept-Encoding = "zstd";
  } elseif (req.http.Accept-Encoding ~ "(?i)\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))") {
    set req.http.Accept-Encoding = "gzip";
  } else {
    unset req.http.Accept-Encoding;
  }
  call mercat_query;
  return (hash);
}

# Responses of /v1 do not depend on the Host header.
sub vcl_hash {
  hash_data(req.url);
  return (lookup);
}

sub vcl_backend_response {
  # A failed update of a stale response does not replace that response.
  if (bereq.is_bgfetch && beresp.status != 200) {
    return (abandon);
  }
  # If a response may not be stored, later requests for its URL do not wait for one another. This ends after 10 s, or with a response that may
  # be stored.
  if (beresp.http.Cache-Control !~ "s-maxage") {
    set beresp.uncacheable = true;
    set beresp.ttl = 10s;
    return (deliver);
  }
}

sub vcl_deliver {
  if (req.url ~ "^/v1(?:[/?]|$)") {
    if (obj.hits > 0) {
      set resp.http.X-Cache = "HIT";
    } else {
      set resp.http.X-Cache = "MISS";
    }
  }
}
