"""What generated documents are made of."""

from __future__ import annotations

from hypothesis import strategies as st

COMMON_HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种"
    "面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本"
    "去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比"
    "或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总"
    "次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做"
    "必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权"
    "收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信"
    "马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连"
    "断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存"
    "候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严"
)

han_words = st.text(alphabet=COMMON_HAN, min_size=2, max_size=2)
han_runs = st.text(alphabet=COMMON_HAN, min_size=1, max_size=30)
latin_words = st.sampled_from(
    "gate pump valve Sync HTTPServer gate-sync v3.11 C++ naïve re\u0301sume\u0301 don't x_y 42".split()
)
odd_runs = st.text(
    alphabet="aé\u0301\u0302ｶﾞ\u1100\u1161\u11a8한글葛\U000e0100👩\u200d🇨🇳\ufdfa㍿⽔請網\u09c7\u09be\u05e9\u05bc\u05c1"
    "ﬁＡ１，．。·、-_'’#|`*~[]()<>&:!\t \u3000\xa0",
    max_size=20,
)
pieces = st.one_of(han_runs, latin_words, odd_runs, st.sampled_from(["。", "，", " ", "；", ". ", "……"]))
lines = st.lists(pieces, max_size=8).map("".join)
texts = st.lists(lines, max_size=25).map("\n".join)

# A line longer than a stored piece of text, built from few draws.
long_lines = st.builds(
    lambda parts, size: ("".join(parts) * (size // max(1, len("".join(parts))) + 1))[:size],
    st.lists(st.one_of(han_runs, latin_words, odd_runs), min_size=1, max_size=12),
    st.integers(min_value=4_000, max_value=9_000),
)

# Anything that can stand in a file: no surrogates, which no encoding holds.
anything = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400)
