#include "models/lexicon.h"

namespace tapestry::lexicon {

namespace {

constexpr unsigned alive = person | animal;
constexpr unsigned goods = object | vehicle | food;
constexpr unsigned thing = object | vehicle;
constexpr unsigned all = alive | goods | place;
constexpr bool f = true, m = false;

constexpr Noun noun_table[] = {
    {"man", "men", "homme", "hommes", m, person | nobodys},
    {"woman", "women", "femme", "femmes", f, person | nobodys},
    {"child", "children", "enfant", "enfants", m, person},
    {"boy", "boys", "garçon", "garçons", m, person | nobodys},
    {"girl", "girls", "fille", "filles", f, person | nobodys},
    {"friend", "friends", "ami", "amis", m, person},
    {"teacher", "teachers", "professeur", "professeurs", m, person},
    {"doctor", "doctors", "médecin", "médecins", m, person},
    {"neighbor", "neighbors", "voisin", "voisins", m, person},
    {"brother", "brothers", "frère", "frères", m, person},
    {"sister", "sisters", "sœur", "sœurs", f, person},
    {"mother", "mothers", "mère", "mères", f, person},
    {"aunt", "aunts", "tante", "tantes", f, person},
    {"nurse", "nurses", "infirmière", "infirmières", f, person},
    {"king", "kings", "roi", "rois", m, person},
    {"queen", "queens", "reine", "reines", f, person},

    {"cat", "cats", "chat", "chats", m, animal},
    {"dog", "dogs", "chien", "chiens", m, animal},
    {"horse", "horses", "cheval", "chevaux", m, animal},
    {"bird", "birds", "oiseau", "oiseaux", m, animal},
    {"cow", "cows", "vache", "vaches", f, animal},
    {"mouse", "mice", "souris", "souris", f, animal},
    {"owl", "owls", "hibou", "hiboux", m, animal},
    {"wolf", "wolves", "loup", "loups", m, animal},

    {"car", "cars", "voiture", "voitures", f, vehicle},
    {"boat", "boats", "bateau", "bateaux", m, vehicle | building},
    {"plane", "planes", "avion", "avions", m, vehicle | building},
    {"book", "books", "livre", "livres", m, object},
    {"letter", "letters", "lettre", "lettres", f, object},
    {"newspaper", "newspapers", "journal", "journaux", m, object},
    {"table", "tables", "table", "tables", f, object | support},
    {"chair", "chairs", "chaise", "chaises", f, object | support},
    {"bed", "beds", "lit", "lits", m, object | support},
    {"key", "keys", "clé", "clés", f, object},
    {"hat", "hats", "chapeau", "chapeaux", m, object},
    {"coat", "coats", "manteau", "manteaux", m, object},
    {"knife", "knives", "couteau", "couteaux", m, object},
    {"flower", "flowers", "fleur", "fleurs", f, object},
    {"dress", "dresses", "robe", "robes", f, object},
    {"box", "boxes", "boîte", "boîtes", f, object},
    {"gift", "gifts", "cadeau", "cadeaux", m, object},
    {"toy", "toys", "jouet", "jouets", m, object},

    {"apple", "apples", "pomme", "pommes", f, food},
    {"orange", "oranges", "orange", "oranges", f, food},
    {"cake", "cakes", "gâteau", "gâteaux", m, food},
    {"egg", "eggs", "œuf", "œufs", m, food},
    {"cheese", "cheeses", "fromage", "fromages", m, food},
    {"tomato", "tomatoes", "tomate", "tomates", f, food},
    {"potato", "potatoes", "pomme de terre", "pommes de terre", f, food},

    {"house", "houses", "maison", "maisons", f, place | room | building},
    {"garden", "gardens", "jardin", "jardins", m, place | room},
    {"school", "schools", "école", "écoles", f, place | room | building},
    {"church", "churches", "église", "églises", f, place | room | building},
    {"village", "villages", "village", "villages", m, place | room},
    {"hotel", "hotels", "hôtel", "hôtels", m, place | room | building},
    {"hospital", "hospitals", "hôpital", "hôpitaux", m, place | room | building},
    {"park", "parks", "parc", "parcs", m, place | room},
    {"forest", "forests", "forêt", "forêts", f, place | room},
    {"castle", "castles", "château", "châteaux", m, place | room | building},
    {"bridge", "bridges", "pont", "ponts", m, place | support | building},
    {"kitchen", "kitchens", "cuisine", "cuisines", f, place | room},
    {"shop", "shops", "magasin", "magasins", m, place | room},
    {"tree", "trees", "arbre", "arbres", m, support | place},
};

constexpr Adjective adjective_table[] = {
    {"big", "bigger", "grand", "grande", "grands", "grandes", "", true, all},
    {"small", "smaller", "petit", "petite", "petits", "petites", "", true, all},
    {"beautiful", "more", "beau", "belle", "beaux", "belles", "bel", true, alive | thing | place},
    {"old", "older", "vieux", "vieille", "vieux", "vieilles", "vieil", true, alive | thing | place},
    {"new", "", "nouveau", "nouvelle", "nouveaux", "nouvelles", "nouvel", true, person | thing | place},
    {"young", "younger", "jeune", "jeune", "jeunes", "jeunes", "", true, alive},
    {"good", "", "bon", "bonne", "bons", "bonnes", "", true, person | object | food},
    {"bad", "", "mauvais", "mauvaise", "mauvais", "mauvaises", "", true, person | food},
    {"pretty", "", "joli", "jolie", "jolis", "jolies", "", true, animal | thing | place},

    {"red", "", "rouge", "rouge", "rouges", "rouges", "", false, goods},
    {"yellow", "", "jaune", "jaune", "jaunes", "jaunes", "", false, goods},
    {"black", "", "noir", "noire", "noirs", "noires", "", false, thing | animal | building},
    {"white", "", "blanc", "blanche", "blancs", "blanches", "", false, thing | animal | building},
    {"green", "", "vert", "verte", "verts", "vertes", "", false, goods},
    {"blue", "", "bleu", "bleue", "bleus", "bleues", "", false, thing | building},
    {"heavy", "", "lourd", "lourde", "lourds", "lourdes", "", false, object | vehicle},
    {"expensive", "more", "cher", "chère", "chers", "chères", "", false, goods},
    {"happy", "happier", "heureux", "heureuse", "heureux", "heureuses", "", false, alive},
    {"dangerous", "more", "dangereux", "dangereuse", "dangereux", "dangereuses", "", false, animal | vehicle | place},
    {"intelligent", "more", "intelligent", "intelligente", "intelligents", "intelligentes", "", false, alive},
    {"french", "", "français", "française", "français", "françaises", "", false, person | goods},
    {"tired", "more", "fatigué", "fatiguée", "fatigués", "fatiguées", "", false, alive},
    {"sad", "sadder", "triste", "triste", "tristes", "tristes", "", false, alive},
    {"famous", "more", "célèbre", "célèbre", "célèbres", "célèbres", "", false, person | place},
    {"rich", "richer", "riche", "riche", "riches", "riches", "", false, person},
    {"sick", "", "malade", "malade", "malades", "malades", "", false, alive},
    {"dirty", "", "sale", "sale", "sales", "sales", "", false, thing | animal | place},
    {"strange", "", "étrange", "étrange", "étranges", "étranges", "", false, all},
    {"fast", "", "rapide", "rapide", "rapides", "rapides", "", false, animal | vehicle},
};

constexpr Verb verb_table[] = {
    {"see", "sees", "saw", "", "vois", "voit", "voient", "vu", "voir", false, all, alive},
    {"buy", "buys", "bought", "", "achète", "achète", "achètent", "acheté", "acheter", false, goods | animal, person},
    {"sell", "sells", "sold", "", "vends", "vend", "vendent", "vendu", "vendre", false, goods | animal, person},
    {"find", "finds", "found", "", "trouve", "trouve", "trouvent", "trouvé", "trouver", false, alive | goods, alive},
    {"take", "takes", "took", "", "prends", "prend", "prennent", "pris", "prendre", false, goods, person},
    {"eat", "eats", "ate", "", "mange", "mange", "mangent", "mangé", "manger", false, food, alive},
    {"love", "loves", "loved", "", "aime", "aime", "aiment", "aimé", "aimer", false, all, person},
    {"meet", "meets", "met", "", "rencontre", "rencontre", "rencontrent", "rencontré", "rencontrer", false, person,
     person},
    {"visit", "visits", "visited", "", "visite", "visite", "visitent", "visité", "visiter", false, place, person},
    {"carry", "carries", "carried", "", "porte", "porte", "portent", "porté", "porter", false, object | food, person},
    {"hide", "hides", "hid", "", "cache", "cache", "cachent", "caché", "cacher", false, object | food, person},
    {"break", "breaks", "broke", "", "casse", "casse", "cassent", "cassé", "casser", false, object, person},
    {"draw", "draws", "drew", "", "dessine", "dessine", "dessinent", "dessiné", "dessiner", false, all, person},
    {"give", "gives", "gave", "", "donne", "donne", "donnent", "donné", "donner", false, goods | animal, person},
    {"show", "shows", "showed", "", "montre", "montre", "montrent", "montré", "montrer", false, goods | place, person},
    {"look", "looks", "looked", "for", "cherche", "cherche", "cherchent", "cherché", "chercher", false, all, alive},
    {"watch", "watches", "watched", "", "regarde", "regarde", "regardent", "regardé", "regarder", false,
     alive | vehicle, alive},
    {"build", "builds", "built", "", "construis", "construit", "construisent", "construit", "construire", false,
     building, person},
    {"keep", "keeps", "kept", "", "garde", "garde", "gardent", "gardé", "garder", false, goods | animal, person},
    {"touch", "touches", "touched", "", "touche", "touche", "touchent", "touché", "toucher", false, alive | goods,
     alive},
    {"thank", "thanks", "thanked", "", "remercie", "remercie", "remercient", "remercié", "remercier", false, person,
     person},
    {"steal", "steals", "stole", "", "vole", "vole", "volent", "volé", "voler", false, goods | animal, person},

    {"sleep", "sleeps", "slept", "", "dors", "dort", "dorment", "dormi", "dormir", false, 0, alive},
    {"work", "works", "worked", "", "travaille", "travaille", "travaillent", "travaillé", "travailler", false, 0,
     person},
    {"sing", "sings", "sang", "", "chante", "chante", "chantent", "chanté", "chanter", false, 0, person},
    {"dance", "dances", "danced", "", "danse", "danse", "dansent", "dansé", "danser", false, 0, person},
    {"cry", "cries", "cried", "", "pleure", "pleure", "pleurent", "pleuré", "pleurer", false, 0, person},
    {"arrive", "arrives", "arrived", "", "arrive", "arrive", "arrivent", "arrivé", "arriver", true, 0, alive},
    {"leave", "leaves", "left", "", "pars", "part", "partent", "parti", "partir", true, 0, alive},
    {"come", "comes", "came", "", "viens", "vient", "viennent", "venu", "venir", true, 0, alive},
    {"stay", "stays", "stayed", "", "reste", "reste", "restent", "resté", "rester", true, 0, alive},
};

constexpr Verb speech_table[] = {
    {"say", "says", "said", "", "dis", "dit", "disent", "dit", "dire", false, 0, person},
    {"think", "thinks", "thought", "", "pense", "pense", "pensent", "pensé", "penser", false, 0, person},
    {"know", "knows", "knew", "", "sais", "sait", "savent", "su", "savoir", false, 0, person},
};

constexpr Determiner determiner_table[] = {
    {"the", "the", "le", "la", "le", "la", "les", "les"},
    {"a", "some", "un", "une", "un", "une", "des", "des"},
    {"this", "these", "ce", "cette", "cet", "cette", "ces", "ces"},
    {"my", "my", "mon", "ma", "mon", "mon", "mes", "mes"},
    {"his", "his", "son", "sa", "son", "son", "ses", "ses"},
    {"her", "her", "son", "sa", "son", "son", "ses", "ses"},
    {"our", "our", "notre", "notre", "notre", "notre", "nos", "nos"},
    {"your", "your", "votre", "votre", "votre", "votre", "vos", "vos"},
    {"their", "their", "leur", "leur", "leur", "leur", "leurs", "leurs"},
    {"every", "", "chaque", "chaque", "chaque", "chaque", "", ""},
    {"", "all/1 the/2", "", "", "", "", "tous/1 les/2", "toutes/1 les/2"},
    {"", "several", "", "", "", "", "plusieurs", "plusieurs"},
    {"", "two", "", "", "", "", "deux", "deux"},
    {"", "three", "", "", "", "", "trois", "trois"},
    {"", "four", "", "", "", "", "quatre", "quatre"},
    {"", "five", "", "", "", "", "cinq", "cinq"},
    {"", "six", "", "", "", "", "six", "six"},
    {"", "seven", "", "", "", "", "sept", "sept"},
};

constexpr Pronoun pronoun_table[] = {
    {"i", "je", 0, m},    {"he", "il", 1, m},    {"she", "elle", 1, f},
    {"we", "nous", 2, m}, {"you", "vous", 3, m}, {"they", "ils", 4, m},
};

// "it" stands for no noun here, hence the masculine.
constexpr Fixed object_pronoun_table[] = {{"him", "le"}, {"her", "la"}, {"it", "le"}, {"them", "les"}};

constexpr Name name_table[] = {
    {"paul", "paul's", "paul", m},       {"peter", "peter's", "pierre", m},   {"john", "john's", "jean", m},
    {"lucas", "lucas's", "lucas", m},    {"thomas", "thomas's", "thomas", m}, {"david", "david's", "david", m},
    {"mary", "mary's", "marie", f},      {"julia", "julia's", "julie", f},    {"claire", "claire's", "claire", f},
    {"sophie", "sophie's", "sophie", f}, {"lucy", "lucy's", "lucie", f},      {"nina", "nina's", "nina", f},
    {"robert", "robert's", "robert", m}, {"laura", "laura's", "laura", f},
};

constexpr Preposition preposition_table[] = {
    {"in", "dans", room},
    {"near", "près de", place},
    {"behind", "derrière", place | vehicle},
    {"next to", "à côté de", place},
    {"far from", "loin de", place},
    {"in front of", "devant", place | vehicle},
    {"under", "sous", support},
    {"on", "sur", support & ~place},
    {"with", "avec", person},
    {"without", "sans", person},
    {"for", "pour", person},
    {"to", "à", place},
    {"to", "à", person},
};

constexpr Fixed place_table[] = {
    {"here", "ici"},
    {"outside", "dehors"},
    {"at/1 home/2", "à/1 la/2 maison/2"},
    {"in/1 paris/2", "à/1 paris/2"},
    {"in/1 london/2", "à/1 londres/2"},
    {"in/1 rome/2", "à/1 rome/2"},
    {"in/1 berlin/2", "à/1 berlin/2"},
    {"everywhere", "partout"},
};

constexpr Fixed manner_table[] = {
    {"slowly", "lentement"}, {"quickly", "rapidement"}, {"calmly", "calmement"}, {"patiently", "patiemment"}};

constexpr Fixed frequent_table[] = {
    {"often", "souvent"}, {"always", "toujours"}, {"sometimes", "parfois"}, {"rarely", "rarement"}};

constexpr Fixed degree_table[] = {{"very", "très"}, {"too", "trop"}, {"so", "si"}, {"really", "vraiment"}};

constexpr Time time_table[] = {
    {"now", "maintenant", present},
    {"today", "aujourd'hui", present | past | future},
    {"every/1 day/2", "tous/1 les/1 jours/2", present},
    {"in/1 the/2 morning/3", "le/123 matin/3", present},
    {"yesterday", "hier", past},
    {"last/1 night/2", "hier/1 soir/2", past},
    {"last/1 week/2", "la/2 semaine/2 dernière/1", past},
    {"tomorrow", "demain", future},
    {"tonight", "ce soir", future},
    {"next/1 week/2", "la/2 semaine/2 prochaine/1", future},
    {"soon", "bientôt", future},
    {"on/1 monday/2", "lundi/12", past | future},
    {"on/1 tuesday/2", "mardi/12", past | future},
    {"on/1 wednesday/2", "mercredi/12", past | future},
    {"on/1 thursday/2", "jeudi/12", past | future},
    {"on/1 friday/2", "vendredi/12", past | future},
    {"on/1 saturday/2", "samedi/12", past | future},
    {"on/1 sunday/2", "dimanche/12", past | future},
};

constexpr Fixed conjunction_table[] = {{"and", "et"}, {"but", "mais"}, {"because", "parce que"}, {"when", "quand"}};

constexpr Fixed question_word_table[] = {{"why", "pourquoi"}, {"where", "où"}, {"when", "quand"}, {"how", "comment"}};

}  // namespace

const std::span<const Noun> nouns = noun_table;
const std::span<const Adjective> adjectives = adjective_table;
const std::span<const Verb> verbs = verb_table;
const std::span<const Verb> speech_verbs = speech_table;
const std::span<const Determiner> determiners = determiner_table;
const std::span<const Pronoun> pronouns = pronoun_table;
const std::span<const Fixed> object_pronouns = object_pronoun_table;
const std::span<const Name> names = name_table;
const std::span<const Preposition> prepositions = preposition_table;
const std::span<const Fixed> places = place_table;
const std::span<const Fixed> manners = manner_table;
const std::span<const Fixed> frequents = frequent_table;
const std::span<const Fixed> degrees = degree_table;
const std::span<const Time> times = time_table;
const std::span<const Fixed> conjunctions = conjunction_table;
const std::span<const Fixed> question_words = question_word_table;

const Auxiliary avoir = {{}, {"ai", "a", "avons", "avez", "ont"}};
const Auxiliary etre = {{"am", "is", "are", "are", "are"}, {"suis", "est", "sommes", "êtes", "sont"}};
const Auxiliary etait = {{"was", "was", "were", "were", "were"}, {"étais", "était", "étions", "étiez", "étaient"}};
const Auxiliary aller = {{"will", "will", "will", "will", "will"}, {"vais", "va", "allons", "allez", "vont"}};
const Auxiliary pouvoir = {{"can", "can", "can", "can", "can"}, {"peux", "peut", "pouvons", "pouvez", "peuvent"}};
const Auxiliary devoir = {{"must", "must", "must", "must", "must"}, {"dois", "doit", "devons", "devez", "doivent"}};
const Auxiliary vouloir = {{"want", "wants", "want", "want", "want"}, {"veux", "veut", "voulons", "voulez", "veulent"}};

}  // namespace tapestry::lexicon
