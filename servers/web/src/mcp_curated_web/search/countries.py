"""Countries by their names, for providers that do not take ISO 3166 codes."""

from typing import Final

COUNTRY_NAMES: Final = {
    "AR": "argentina", "AT": "austria", "AU": "australia", "BD": "bangladesh", "BE": "belgium", "BG": "bulgaria",
    "BR": "brazil", "CA": "canada", "CH": "switzerland", "CL": "chile", "CN": "china", "CO": "colombia",
    "CZ": "czech republic", "DE": "germany", "DK": "denmark", "EG": "egypt", "ES": "spain", "FI": "finland",
    "FR": "france", "GB": "united kingdom", "GR": "greece", "HU": "hungary", "ID": "indonesia", "IE": "ireland",
    "IL": "israel", "IN": "india", "IT": "italy", "JP": "japan", "KE": "kenya", "KR": "south korea", "MX": "mexico",
    "MY": "malaysia", "NG": "nigeria", "NL": "netherlands", "NO": "norway", "NZ": "new zealand", "PE": "peru",
    "PH": "philippines", "PK": "pakistan", "PL": "poland", "PT": "portugal", "RO": "romania", "RU": "russia",
    "SA": "saudi arabia", "SE": "sweden", "SG": "singapore", "TH": "thailand", "TR": "turkey", "TW": "taiwan",
    "UA": "ukraine", "US": "united states", "VN": "vietnam", "ZA": "south africa",
}  # fmt: skip
"""ISO 3166-1 alpha-2 to the English name in small letters."""
