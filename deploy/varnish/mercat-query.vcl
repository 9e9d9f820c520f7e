# Generated from openapi/marketplace.json by npm run generate. Reduces the query of a /v1 request to the parameters that an operation has,
# in alphabetical order. A query that repeats such a parameter is not changed: Mercat rejects this query.

sub mercat_query {
  if (req.url ~ "^[^?]*\?(?:.*&)?(chain|cursor|limit|sort)(?:=[^&]*)?&(?:.*&)?\1(?:=|&|$)") {
    return (pass);
  }
  set req.http.X-Mercat-Query = "";
  if (req.url ~ "^[^?]*\?(?:.*&)?chain(?:=[^&]*)?(?:&|$)") {
    set req.http.X-Mercat-Query = req.http.X-Mercat-Query
      + regsub(req.url, "^[^?]*\?(?:.*&)?(chain(?:=[^&]*)?)(?:&.*)?$", "&\1");
  }
  if (req.url ~ "^[^?]*\?(?:.*&)?cursor(?:=[^&]*)?(?:&|$)") {
    set req.http.X-Mercat-Query = req.http.X-Mercat-Query
      + regsub(req.url, "^[^?]*\?(?:.*&)?(cursor(?:=[^&]*)?)(?:&.*)?$", "&\1");
  }
  if (req.url ~ "^[^?]*\?(?:.*&)?limit(?:=[^&]*)?(?:&|$)") {
    set req.http.X-Mercat-Query = req.http.X-Mercat-Query
      + regsub(req.url, "^[^?]*\?(?:.*&)?(limit(?:=[^&]*)?)(?:&.*)?$", "&\1");
  }
  if (req.url ~ "^[^?]*\?(?:.*&)?sort(?:=[^&]*)?(?:&|$)") {
    set req.http.X-Mercat-Query = req.http.X-Mercat-Query
      + regsub(req.url, "^[^?]*\?(?:.*&)?(sort(?:=[^&]*)?)(?:&.*)?$", "&\1");
  }
  set req.url = regsub(req.url, "\?.*$", "") + regsub(req.http.X-Mercat-Query, "^&", "?");
  unset req.http.X-Mercat-Query;
}
