"""Given names that are frequent in Europe, the Americas, India and the Near East, in plain letters.

They are written down from general knowledge. They are for columns and not for cells: what a column holds is
told by the share of its values that have one, so that neither a missing name nor a town called Charlotte
decides.
"""

from __future__ import annotations

from typing import Final

_TEXT = """
aarav aaron abdallah abdul abdullah abigail adam adrian agnes agneta agnieszka agustin ahmed ahmet aimee
aisha ajay akira alain alan alba albert alberto aldo alejandro aleksandra aleksei alena ales alessandro
alessia alex alexander alexandra alexandre alexandru alexei alexis alfie alfonso ali alice alicia alicja
alison allison alvaro amanda amber amelia amelie amina amit amy ana ananya anastasia anatoly anders andras
andre andrea andreas andreea andrei andres andrew andrzej angel angela angelo aniko anil anita anja anjali
ann anna anne anneli anneliese annie annika anouk ante anthony antje antoine anton antonella antonia antonio
antti araceli archie arjun arnaud arthur arto artur arturo arun ashley ashok astrid attila audrey aurelie
aurora austin ava axel ayse baptiste barbara barbel barbora barry bartosz bas bastian bea beat beata
beatrice beatriz ben benedicte benedikt benjamin benoit bente bernard bernd bettina betty beverly bianca
bill billy birgit birgitta bjorn blake blanca bob bobby bonnie boris brad bradley bram brandon branko brenda
brett brian brigitte britta brittany bruce bruna bruno bryan busra caio caleb camila camilla camille candace
carl carlo carlos carmela carmen carol carolina caroline carolyn carrie cassandra catalina caterina
catherine cedric celine cesar chantal charles charlie charlotte cheryl chiara chloe chris christa christian
christiane christina christine christoph christophe christopher cindy claire clara clare claude claudia
claudio clement clive cody colin concepcion connie connor constantin consuelo corey corinne cornelia
courtney craig cristian cristina crystal csaba curtis cynthia daan dagmar daisy dale damien dan dana daniel
daniela danielle danuta daria dariusz darren dave david davide dawn deborah debra deepa deepak denise dennis
derek derrick diana diane didier diego dieter dimitris dirk divya dmitri dmitry dolores domenico dominik
dominique donald donatella donna dora doris dorota dorothy douglas dragan dragana dustin dylan ebba
edeltraud edith eduardo edward eero eileen ekaterina eleanor elena eleni elfriede elias elif elijah elin
elisa elise eliska eliza elizabeth elke ella ellen ellie elzbieta emil emilie emilio emily emine emma
emmanuel encarnacion enrico enrique enzo eric erica erik erika erin erna ernst erzsebet esperanza esteban
esther eszter ethan etienne eugene eugenie eva evelyn ewa fabian fabio fabrice fatima fatma fay federica
federico felipe felix femke ferenc fernanda fernando filip filippo finn fiona fleur florence florian florin
frances francesca francesco francisca francisco franck franco francois francoise frank frantisek franz
franziska freddie frederic fredrik freya frieda friedrich fritz gabor gabriel gabriela gabriele gabriella
gabrielle gail galina gary gemma genevieve geoffrey georg george georges georgia gerald gerard gerda gerhard
gerrit gheorghe gianni giannis gilles gillian giorgia giorgio giorgos giovanna giovanni gisela giulia
giuliana giuseppe giuseppina glenda glenn gloria gonzalo goran gordon grace graham grazyna greg gregoire
gregory greta grzegorz guadalupe gudrun guenter guillaume guillermo gunilla gunnar gunter gunther gus
gustavo guy gyorgy gyula halil halina hana hanna hannah hanne hannelore hans harold harriet harry hasan
hassan hatice hazel heather hector heidi heike heikki heinrich heinz helen helena helene helga helmut henk
henri henrik henrique henry henryk hermann hilary hildegard hiroshi holly horst howard hugh hugo hui huseyin
hussein ian ibrahim ida ignacio igor ilaria ilona ilse imre ines inge ingeborg inger ingrid inmaculada ioan
ioana ion ionut irena irene irina irmgard isaac isabel isabella isabelle isla ismail istvan ivan ivana ivo
iwona jacek jack jacob jacqueline jacques jade jadwiga jaime jakob jakub james jan jana jane janet janice
janina janos janusz jared jari jaroslav jaroslava jaroslaw jasmin jasmine jason javier jayne jean jeanne
jeff jeffrey jelena jennifer jens jeremy jeroen jerry jerzy jesse jessica jesus jill jim jimena jing jiri
jitka jo joan joanna joanne joao joaquim joaquin jodie joe joel joerg johan johann johanna johannes john
jolanta jon jonas jonathan jordan jorg jorge jorgen joris jose josef josefa joseph josephine joshua josiane
josip joyce jozsef juan juana judit judith judy juergen juha jukka julia julian juliana julie julien
juliette julio june jurgen justin jutta kai kalle kamil karel karen kari karim karin karina karl karolina
katalin katarina katarzyna kate katerina katharina katherine kathleen kathrin kathryn kathy katie katja
katrin kavita kay kayla kazimierz kees keiko keith kelly ken kenji kenneth kerry kerstin kevin khadija
khaled kimberly kirsten kirsty klara klaus konrad kostas kristen kristian kristin kristina krisztina krystal
krystyna krzysztof ksenia kumar kurt kyle ladislav lajos lakshmi larissa larry lars laszlo laura laure
lauren laurence laurent lauri lawrence layla lea leah leila lena lenka lennart leo leon leonard leonardo
leonie lesley leslie leticia lex liam libor lily lina linda lindsey linnea lisa lisbeth liv logan lorena
lorenzo lori lorraine lotte louis louise luana luca lucas lucia luciano lucie lucija lucy ludmila ludovica
ludwig luigi luis luisa luka lukas lukasz luke luz lynn lynne lyudmila maaike maarten maciej madeleine
madison mads magdalena magnus mahmoud maike maja malcolm malgorzata manfred manoj manon manuel manuela marc
marcel marcela marcelo marcin marco marcos marcus marek margaret margarete margarita margaux margot
marguerite maria mariam marian mariana marianne marie marieke marija marilyn marina mario marion marit
marius mariusz mark marketa markku marko markus marlene marta martha martin martina martine mary maryam
mason massimo matej mateo mateusz mathilde mathis mats matt matteo matthew matthias matti mattias maureen
maurice mauricio maurizio max maxim maxime meena megan mehmet meike melanie melissa mercedes merja merve
meryem mette mia michael michaela michal michel michele michelle miguel mihaela mihai mikael mike mikhail
mikkel mikko mila milan milica milos ming minh minna miranda miriam mirjana miroslav miroslaw misty mohamed
mohammad mohammed molly monica monika monique montserrat moritz muhammad murat mustafa nadezhda nadia nadine
nancy naomi natalia natalie natasha nathalie nathan neha neil nele nguyen nicholas nick nicola nicolae
nicolas nicole niels nigel niklas nikola nikolai nikos nils nina noah noelia noemie noor nora norma norman
nour nuria odile oksana ola ole oleg olga oliver olivia olivier olof omar omer ondrej orlando ornella oscar
oskar osman otavio otto owen pablo paivi pamela paola paolo pascal pascale patricia patrick patrizia paul
paula paulina pauline paulo pavel pawel pedro peggy pekka penelope pepita per peter petr petra philip
philipp philippe phoebe pierre pieter pietro pilar piotr pirjo polina pooja poppy priya quentin rachel
rachid radek rafael rafaela rafal raffaele raffaella rahul rainer raj rajesh ralf ralph ramazan ramesh ramon
randy rania raquel rasmus raul ravi raymond rebeca rebecca regina reka rekha remedios remi renate rene reto
rhonda ricardo riccardo richard riitta rita ritva robert roberta roberto robin rocio rodrigo rogelio roger
rohan rolando rolf romain roman ron ronald rosa rosario rose rosemarie rosemary roy ruben rudolf russell
ruth ryan ryszard sabine said sally salma salvador salvatore sam samantha samir samira samuel sander sandor
sandra sandrine sanjay sanne santiago sara sarah sari saskia scott sean sebastian sebastien sem serge sergei
sergey sergio serife severine shane shannon shanti sharon sheila sherry shirley siegfried sigrid silje silke
silvia simon simona simone sita slawomir snezana sofia solveig sonia sonja sophia sophie soren stacy stanley
stefan stefania stefanie stefano stella stephane stephanie stephen steve steven stig stjepan stuart sture
suleyman sultan sunil sunita suresh susan susana susanne suzanne sven svenja svetlana sylvia sylvie tadeusz
takashi tamas tammy tanja tanya tara tarek tatiana teresa tereza terry theo theresa thi thiago thierry thijs
thomas thorsten tibor tiina tim timo timothy tina tiziana tobias toby tom tomas tomasz tomislav tommaso tony
torsten tracy travis trevor tristan troy tuula tyler udo ulf ulla ulrike umberto urs ursula ute uwe vaclav
valentina valeria valerie valerio vanessa vasile vasiliki vera verena veronica veronika veronique vesna
vicente victor victoria viggo vijay vikram viktor ville vincent vincenzo vinicius virginia virginie vitor
vittorio vivaan vivian vladimir vojtech volker walter waltraud wanda wayne wei wendy werner wesley wieslaw
wilhelm willem william willie wilma wojciech wolfgang wouter xavier ximena yan yannis yasmin ying yoko
yolanda youssef yuki yuri yusuf yves yvonne zachary zainab zbigniew zdenek zeljko zeynep zoe zofia zoltan
zoran zsolt zsuzsanna zuzana
"""
GIVEN_NAMES: Final = frozenset(_TEXT.split())
"""Given names in small plain letters, without accents."""
